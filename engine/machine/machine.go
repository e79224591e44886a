// Package machine tells how much memory there is for a model: what the machine
// has, or less where a container's limit is below that.
package machine

// Memory is in bytes; 0 is unknown.
type Memory struct {
	Total uint64 // that programs may have, all together
	Free  uint64 // that is left, counting what the system can take back at once
}

// Read looks at the machine. What it cannot find out is 0.
func Read() Memory { return read() }
