// Package llm holds the gateway's own words: what a client asks for and what a
// model says back. It knows no backend and no wire format, and imports nothing
// of ours, so every other package may speak in its terms.
package llm
