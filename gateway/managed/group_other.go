//go:build !unix

package managed

import "syscall"

// ownGroup changes nothing here; see group_unix.go.
func ownGroup() *syscall.SysProcAttr { return nil }
