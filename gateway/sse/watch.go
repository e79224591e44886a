package sse

import (
	"net"
	"syscall"
	"time"
)

// Watch calls gone, once and from a goroutine of its own, when the peer of c
// closes its side, a half-close included. stop ends the watch, waits for a gone
// under way and leaves c without a read deadline. Nothing may read from c in
// between. Where the system cannot tell, gone is never called and a client that
// left is noticed at the next write.
func Watch(c net.Conn, gone func()) (stop func()) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return func() {}
	}
	raw, err := sc.SyscallConn()
	if err != nil || !canWatch {
		return func() {}
	}
	// A deadline left over from reading the request would end the watch.
	_ = c.SetReadDeadline(time.Time{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		left := false
		// Parks in the runtime's poller between the calls; costs no thread.
		err := raw.Read(func(fd uintptr) bool {
			left = peerGone(int(fd))
			return left
		})
		if err == nil && left {
			gone()
		}
	}()
	return func() {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // wakes the watch
		<-done
		_ = c.SetReadDeadline(time.Time{})
	}
}
