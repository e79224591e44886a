package route

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

const maxWords = 600 // bytes of another's words in a message

// lastWords returns the end of s in one line: what a process says last tells most.
func lastWords(s string) string {
	s = oneLine(s)
	if len(s) > maxWords {
		s = "..." + strings.ToValidUTF8(s[len(s)-maxWords:], "")
	}
	return s
}

// oneLine puts the lines of s side by side and blanks control characters.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.Join(lines, " | "))
}

// folders finds the folders of absolute paths that have no spaces in them.
var folders = regexp.MustCompile(`(^|[\s"'(=:,])(?:[A-Za-z]:)?(?:[/\\][^\s/\\"']+)+[/\\]`)

// withoutFolders leaves of the known paths in s, and of others as far as they
// can be told from words, their last elements: where files lie on this machine
// is no client's business.
func withoutFolders(s string, known ...string) string {
	for _, path := range known {
		if filepath.IsAbs(path) {
			s = strings.ReplaceAll(s, path, filepath.Base(path))
		}
	}
	return folders.ReplaceAllString(s, "$1")
}
