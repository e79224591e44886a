// Package protobuf reads and writes messages of protocol buffers field by field,
// for adapters whose backends speak gRPC: they need few fields of few messages,
// and so no generated code.
package protobuf
