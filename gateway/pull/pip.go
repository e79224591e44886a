package pull

import (
	"bufio"
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// pipIndex returns the address of the Python package index that pip would ask:
// from its environment, its configuration files, or the public one.
func pipIndex() string {
	if address := os.Getenv("PIP_INDEX_URL"); address != "" {
		return address
	}
	for _, file := range pipFiles() {
		if address := indexIn(file); address != "" {
			return address
		}
	}
	return "https://pypi.org/simple"
}

// pipFiles are pip's configuration files, those that win first.
func pipFiles() (list []string) {
	home, _ := os.UserHomeDir()
	config := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	list = []string{os.Getenv("PIP_CONFIG_FILE")}
	if runtime.GOOS == "windows" {
		return append(list, filepath.Join(os.Getenv("AppData"), "pip", "pip.ini"), filepath.Join(os.Getenv("ProgramData"), "pip", "pip.ini"))
	}
	return append(list,
		filepath.Join(config, "pip", "pip.conf"),
		filepath.Join(home, ".pip", "pip.conf"),
		"/etc/xdg/pip/pip.conf",
		"/etc/pip.conf",
	)
}

// indexIn reads index-url out of the section for all commands, or for downloads.
func indexIn(file string) (address string) {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	section := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[] ")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			key, value, _ = strings.Cut(line, ":")
		}
		if key = strings.ReplaceAll(strings.TrimSpace(key), "_", "-"); key == "index-url" && (section == "global" || section == "download") {
			address = strings.TrimSpace(value)
		}
	}
	return address
}
