//go:build unix && !linux

package sse

import "golang.org/x/sys/unix"

const canWatch = true

// peerGone looks at the next byte without taking it. A client that has sent
// more and then closes is noticed only at the next write.
func peerGone(fd int) bool {
	var b [1]byte
	n, _, err := unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	switch err {
	case nil:
		return n == 0
	case unix.EAGAIN, unix.EINTR:
		return false
	default:
		return true
	}
}
