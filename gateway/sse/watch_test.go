//go:build linux

package sse

import (
	"bufio"
	"io"
	"net"
	"testing"
)

// pair returns both ends of a TCP connection.
func pair(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

func TestWatchNoticesAClose(t *testing.T) {
	f := func(name string, leave func(c *net.TCPConn)) {
		t.Run(name, func(t *testing.T) {
			client, server := pair(t)
			gone := make(chan struct{})
			stop := Watch(server, func() { close(gone) })
			leave(client)
			<-gone
			stop()
		})
	}
	f("close", func(c *net.TCPConn) { c.Close() })
	f("half-close", func(c *net.TCPConn) { c.CloseWrite() })
	f("reset", func(c *net.TCPConn) { c.SetLinger(0); c.Close() })
	f("stray bytes, then close", func(c *net.TCPConn) { c.Write([]byte("\r\n")); c.Close() })
}

func TestStoppedWatchLeavesTheConnection(t *testing.T) {
	client, server := pair(t)
	in := bufio.NewReader(server)
	for range 100 {
		stop := Watch(server, func() { t.Error("gone, they say") })
		if _, err := io.WriteString(client, "next request\n"); err != nil {
			t.Fatal(err)
		}
		stop()
		if line, err := in.ReadString('\n'); err != nil || line != "next request\n" {
			t.Fatalf("read %q, %v", line, err)
		}
	}
}

func TestWatchOfAPeerThatHasLeftAlready(t *testing.T) {
	client, server := pair(t)
	client.Close()
	gone := make(chan struct{})
	stop := Watch(server, func() { close(gone) })
	<-gone
	stop()
}
