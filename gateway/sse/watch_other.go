//go:build !unix

package sse

const canWatch = false

func peerGone(int) bool { return false }
