package machine

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

func read() Memory { return readFrom(os.DirFS("/")) }

// readFrom reads /proc and /sys below root.
func readFrom(root fs.FS) Memory {
	info := fields(root, "proc/meminfo")
	m := Memory{Total: info["MemTotal:"] << 10, Free: info["MemAvailable:"] << 10}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[1] == "":
			m.bound(root, "sys/fs/cgroup", parts[2], version2)
		case parts[1] == "memory":
			m.bound(root, "sys/fs/cgroup/memory", parts[2], version1)
		}
	}
	return m
}

// files are where a version of control groups states its figures.
type files struct {
	limit, used string
	cached      []string // in memory.stat: pages that the system can drop
}

var (
	version1 = files{"memory.limit_in_bytes", "memory.usage_in_bytes", []string{"total_inactive_file", "total_active_file"}}
	version2 = files{"memory.max", "memory.current", []string{"inactive_file", "active_file"}}
)

// bound lowers m to the limits of a control group and of those around it. In a
// container the group's path may be one outside, of which only the root is seen.
func (m *Memory) bound(root fs.FS, mount, group string, f files) {
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		at := path.Join(mount, dir)
		limit, ok := number(root, path.Join(at, f.limit))
		if ok {
			used, _ := number(root, path.Join(at, f.used))
			stat := fields(root, path.Join(at, "memory.stat"))
			for _, name := range f.cached {
				used -= min(used, stat[name])
			}
			m.Total = min(m.Total, limit)
			m.Free = min(m.Free, limit-min(limit, used))
		}
		if dir == "/" {
			return
		}
	}
}

// number reads a file that holds one number. "max" is none.
func number(root fs.FS, name string) (uint64, bool) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}

// fields reads a file with a name and a number on each line.
func fields(root fs.FS, name string) map[string]uint64 {
	data, _ := fs.ReadFile(root, name)
	list := make(map[string]uint64)
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 {
			list[words[0]], _ = strconv.ParseUint(words[1], 10, 64)
		}
	}
	return list
}
