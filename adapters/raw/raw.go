// Package raw holds the adapter for home-made servers that answer a prompt with
// bare text, as a declared adapter. It is also the pattern for variations of
// it, which users declare in their configuration.
package raw

import "embed"

// Files holds raw.yaml.
//
//go:embed raw.yaml
var Files embed.FS
