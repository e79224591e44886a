// Package declared builds adapters from YAML: the facts about a protocol, the
// body to send and the places in a frame where its parts are. It is for
// backends that need no if: there are no templates, no expressions and no
// conditions beyond comparing one value with a list. Anything more is written
// in Go, as a package of its own.
//
//	framing: sse
//	send:
//	  path: /generate_stream
//	  const: {parameters.details: true}
//	  map:
//	    prompt: inputs
//	    max_tokens: parameters.max_new_tokens
//	    top_p: {to: parameters.top_p, omit_from: 1}
//	read:
//	  text: token.text
//	  skip: {path: token.special, is: [true]}
//	  done: {path: generated_text, not: [null]}
//	  finish: details.finish_reason
//	  finish_map: {eos_token: stop, stop_sequence: stop, length: length}
//
// A path is names and list positions joined by dots, as in choices.0.text; a
// backslash takes the next character as it is; a single dot is the whole frame.
// A spec is compiled once: the same request always makes the same bytes.
package declared
