package stream

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"dragoman/adapters"
)

// grpcStatuses are gRPC's status codes, and the HTTP statuses that tell clients
// the same; 0 is no other than that the backend failed.
var grpcStatuses = [...]struct {
	name string
	http int
}{
	{"OK", http.StatusOK},
	{"CANCELLED", 0},
	{"UNKNOWN", 0},
	{"INVALID_ARGUMENT", http.StatusBadRequest},
	{"DEADLINE_EXCEEDED", http.StatusGatewayTimeout},
	{"NOT_FOUND", http.StatusNotFound},
	{"ALREADY_EXISTS", 0},
	{"PERMISSION_DENIED", http.StatusForbidden},
	{"RESOURCE_EXHAUSTED", http.StatusTooManyRequests},
	{"FAILED_PRECONDITION", 0},
	{"ABORTED", 0},
	{"OUT_OF_RANGE", 0},
	{"UNIMPLEMENTED", http.StatusNotFound}, // no such service or method
	{"INTERNAL", 0},
	{"UNAVAILABLE", http.StatusServiceUnavailable},
	{"DATA_LOSS", 0},
	{"UNAUTHENTICATED", http.StatusUnauthorized},
}

// errNoStatus says that an answer ended without the trailers that gRPC ends with.
var errNoStatus = errors.New("no grpc-status")

// trailed is the body of a gRPC answer: what the trailers say decides whether
// its end is a proper one.
type trailed struct {
	io.ReadCloser
	up   *Upstream
	resp *http.Response
}

func (b *trailed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		err = b.end()
	}
	return n, err
}

// end returns io.EOF if the call succeeded, else why it did not: an *llm.Error,
// or errNoStatus. An answer without a body has its status among the headers.
func (b *trailed) end() error {
	header := b.resp.Trailer
	if header.Get("Grpc-Status") == "" {
		header = b.resp.Header
	}
	word := header.Get("Grpc-Status")
	if word == "" {
		return errNoStatus
	}
	code, err := strconv.Atoi(word)
	if err == nil && code == 0 {
		return io.EOF
	}
	name, status := fmt.Sprintf("gRPC status %.8q", word), 0
	if err == nil && code > 0 && code < len(grpcStatuses) {
		name, status = "gRPC status "+grpcStatuses[code].name, grpcStatuses[code].http
	}
	said := adapters.Problem{Message: percentDecoded(header.Get("Grpc-Message"))}
	return b.up.failure(said, status, name, header)
}

// percentDecoded undoes the encoding of grpc-message. What is no %XX stays as
// it is, as gRPC demands.
func percentDecoded(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}
