// Package harness plays both neighbours of the gateway in tests: fake backends
// that send exactly the bytes they are told to, cut where they are told to, and
// a client that checks every byte that comes back.
package harness

import (
	"encoding/hex"
	"math/rand/v2"
	"regexp"
	"strings"
)

// step is one write of a backend.
type step struct {
	data  []byte
	gate  bool // wait until the test says so, before the write
	reset bool // drop the connection instead of writing
}

var mark = regexp.MustCompile(`[␀⏎¦⟂⏸]|<[0-9A-F]{2}(?: [0-9A-F]{2})*>`)

// parse reads a script: the bytes of a body as they are written, with marks
// between them. ␀ is the byte 0, ⏎ a line feed, <F0 9F> bytes in hexadecimal;
// ¦ ends one write, ⏸ waits for Backend.Continue, ⟂ drops the connection.
func parse(script string) []step {
	var steps []step
	var data []byte
	gate := false
	flush := func() {
		if len(data) > 0 || gate {
			steps = append(steps, step{data: data, gate: gate})
			data, gate = nil, false
		}
	}
	for script != "" {
		at := mark.FindStringIndex(script)
		if at == nil {
			data = append(data, script...)
			break
		}
		data = append(data, script[:at[0]]...)
		switch m := script[at[0]:at[1]]; m {
		case "␀":
			data = append(data, 0)
		case "⏎":
			data = append(data, '\n')
		case "¦":
			flush()
		case "⏸":
			flush()
			gate = true
		case "⟂":
			flush()
			steps = append(steps, step{reset: true})
		default:
			bytes, _ := hex.DecodeString(strings.ReplaceAll(m[1:len(m)-1], " ", ""))
			data = append(data, bytes...)
		}
		script = script[at[1]:]
	}
	flush()
	return steps
}

// Delivery is a way of cutting a backend's bytes into writes.
type Delivery string

// The deliveries. Every stream test runs at all of them.
const (
	AsWritten Delivery = "as written" // cut where the script says
	InOne     Delivery = "in one"     // one write, as far as gates allow
	ByByte    Delivery = "by byte"    // one byte a write
	AtRandom  Delivery = "at random"  // cut at about 20 random places
)

// Deliveries are all of them.
var Deliveries = []Delivery{AsWritten, InOne, ByByte, AtRandom}

// deliver cuts steps anew.
func deliver(steps []step, how Delivery) []step {
	if how == AsWritten {
		return steps
	}
	var out []step
	for _, s := range steps {
		joinable := how == InOne && len(out) > 0 && !s.gate && !s.reset && !out[len(out)-1].reset
		switch {
		case joinable:
			last := &out[len(out)-1]
			last.data = append(last.data[:len(last.data):len(last.data)], s.data...)
		case s.reset || len(s.data) == 0 || how == InOne:
			out = append(out, s)
		default:
			out = append(out, cut(s, how)...)
		}
	}
	return out
}

func cut(s step, how Delivery) []step {
	var out []step
	random := rand.New(rand.NewPCG(uint64(len(s.data)), 7))
	for from := 0; from < len(s.data); {
		n := 1
		if how == AtRandom {
			n = 1 + random.IntN(len(s.data)/10+1)
		}
		to := min(from+n, len(s.data))
		out = append(out, step{data: s.data[from:to], gate: s.gate && from == 0})
		from = to
	}
	return out
}
