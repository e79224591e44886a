// Package field plays public bug reports of other gateways against this one.
// Each test is named after its case and says in one line what went wrong there.
package field
