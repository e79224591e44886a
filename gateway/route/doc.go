// Package route finds the backend for a request: from the name that the client
// asked for to an open stream of events. It checks what the backend can do,
// fills in what the client left out, renders the prompt where one is wanted,
// waits for a free slot, and has the bundled engine started. HTTP towards
// clients is the server's, and the backend's protocol the adapters'.
//
//	t, err := route.New(cfg, route.Options{Log: log})
//	m, err := t.Pick("gpt-3.5-turbo")
//	s, err := m.Open(ctx, req)
//	defer s.Close()
//
// A Table is read-only; a new configuration makes a new one.
package route
