package machine

import (
	"testing"
	"testing/fstest"
)

const gib = 1 << 30

func TestRead(t *testing.T) {
	f := func(name string, total, free uint64, files map[string]string) {
		t.Helper()
		root := fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal:       8388608 kB\nMemFree:         100 kB\nMemAvailable:    6291456 kB\n")}}
		for path, text := range files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := readFrom(root); got.Total != total || got.Free != free {
			t.Errorf("%s: got %+v, want %d and %d", name, got, total, free)
		}
	}
	f("no groups", 8*gib, 6*gib, nil)
	f("no limit", 8*gib, 6*gib, map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"})
	f("a limit above the machine", 8*gib, 6*gib, map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "99999999999\n"})
	f("version 2", 2*gib, 2*gib-500, map[string]string{
		"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "2147483648\n",
		"sys/fs/cgroup/a/b/memory.current": "1500\n", "sys/fs/cgroup/a/b/memory.stat": "anon 400\ninactive_file 900\nactive_file 100\n",
	})
	f("the group around", 1*gib, 1*gib, map[string]string{
		"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "2147483648\n", "sys/fs/cgroup/a/memory.max": "1073741824\n",
	})
	f("a path outside the container", 1*gib, 0, map[string]string{
		"proc/self/cgroup": "0::/../../pod/x\n", "sys/fs/cgroup/memory.max": "1073741824\n", "sys/fs/cgroup/memory.current": "9073741824\n",
	})
	f("version 1", 2*gib, 2*gib-500, map[string]string{
		"proc/self/cgroup": "5:cpu:/x\n4:memory:/docker/1\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "2147483648\n",
		"sys/fs/cgroup/memory/memory.usage_in_bytes": "1500\n", "sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 1000\n",
	})
	f("version 1 without a limit", 8*gib, 6*gib, map[string]string{
		"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
	})
}

func TestThisMachine(t *testing.T) {
	if m := Read(); m.Total < 64<<20 || m.Free == 0 || m.Free > m.Total {
		t.Errorf("got %+v", m)
	}
}
