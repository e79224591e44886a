package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"dragoman/adapters/llm"
	"dragoman/gateway/openai"
)

// writeJSON makes body the reply.
func (r *request) writeJSON(status int, body []byte) {
	resp := &r.ctx.Response
	resp.SetStatusCode(status)
	resp.Header.SetContentType("application/json")
	resp.SetBodyRaw(body)
}

// writeError makes err the reply, as OpenAI's error object.
func (r *request) writeError(err error) {
	var e *llm.Error
	if errors.As(err, &e) && e.RetryAfter != "" {
		r.ctx.Response.Header.Set("Retry-After", e.RetryAfter)
	}
	r.writeJSON(openai.Status(err), openai.AppendErrorBody(nil, err))
}

// requestID returns the client's X-Request-Id, if it is fit to be repeated in
// headers and logs, else a new one.
func requestID(ctx *fasthttp.RequestCtx) string {
	id := string(ctx.Request.Header.Peek("X-Request-Id"))
	unfit := func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_.:", c))
	}
	if id != "" && len(id) <= 128 && !strings.ContainsFunc(id, unfit) {
		return id
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return "req_" + hex.EncodeToString(b[:])
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// formatBounded is Sprintf for texts that strangers can stretch.
func formatBounded(format string, args ...any) string {
	return fmt.Sprintf("%.500s", fmt.Sprintf(format, args...))
}
