// Package torchchat holds the three wire formats that the server of PyTorch's
// torchchat has had, as declared adapters. The server runs one request at a
// time over one model without a lock, so all three allow one request at once,
// and it ignores stop strings, which package stream applies.
//
//   - torchchat: since August 2024 (pull request 1034), /v1/chat/completions
//   - torchchat-json: August 2024 (995 to 1021), /chat, JSON objects without
//     anything between them; where the route is /v1/chat, the url ends in /v1
//   - torchchat-raw: July 2024 (955), /chat, bare text
package torchchat

import "embed"

// Files are the adapters, NAME.yaml each.
//
//go:embed *.yaml
var Files embed.FS
