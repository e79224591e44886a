package sse

import "golang.org/x/sys/unix"

const canWatch = true

// peerGone asks without reading, so that a pipelined request or a stray byte in
// the socket's buffer does not hide that the peer closed.
func peerGone(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
}
