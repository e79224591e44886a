// Package real runs true servers, fronts them with the gateway's binary and
// checks what clients get: make real. With the flag -record it also writes the
// servers' bytes into the adapters' testdata, as real-NAME. README.md says which
// servers, and which could not be had.
package real
