// Package e2e runs the two programs as they are installed: the gateway's binary
// with the bundled engine and its model. Its tests have the build tag llama.
package e2e
