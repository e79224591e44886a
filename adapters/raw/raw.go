// Package raw holds the adapters for home-made servers that answer a prompt with
// bare text, as declared adapters. They are also the pattern for variations,
// which users declare in their configuration.
//
//   - raw: the text as it comes
//   - raw-lines: a token in each line
//   - raw-ndjson: a JSON string in each line
//   - raw-sse: a token in each event
package raw

import "embed"

// Files are the adapters, NAME.yaml each.
//
//go:embed *.yaml
var Files embed.FS
