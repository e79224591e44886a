//go:build unix

package managed

import "syscall"

// ownGroup keeps an interrupt typed at the terminal from the engine: it is for
// the gateway, which lets running answers end before it stops the engine.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
