// Package route finds the backend for a request: from the name that the client
// asked for to an open stream of events. It checks what the backends can do,
// chooses one by weight and health, waits for a free slot, fills in what the
// client left out, has the bundled engine started, renders the prompt where one
// is wanted, and goes to the next backend or model if that one fails before its
// first event (docs/routing.md). HTTP towards clients is the server's, and the
// backend's protocol the adapters'.
//
//	t, err := route.New(cfg, route.Options{Log: log})
//	m, err := t.Pick("gpt-3.5-turbo")
//	s, err := m.Open(ctx, req)
//	defer s.Close()
//
// A Table is read-only but for the backends' health; a new configuration makes a
// new one.
package route
