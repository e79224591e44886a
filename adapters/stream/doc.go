// Package stream runs one call to a backend from the request to its end, and
// does what all backends have in common, so that adapters need not:
//
//   - transport: time limits, cancellation, statuses and messages of errors;
//   - text: cumulative text becomes deltas, an echoed prompt goes, runes and stop
//     strings are never cut in two, stop strings and end texts are not shown;
//   - the end: each choice finishes once, and an answer that breaks off is an
//     error and never a finish.
//
// It asks the adapter for the request and for the meaning of each frame, and
// leaves the client's side to the caller, who pulls:
//
//	s, err := stream.Open(ctx, up, adapter, req)
//	if err != nil { ... } // nothing has been said yet: another backend may be asked
//	defer s.Close()
//	for {
//		events, err = s.Next(events[:0])
//		...
//	}
package stream
