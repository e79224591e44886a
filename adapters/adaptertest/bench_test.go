package adaptertest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/builtin"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

// BenchmarkFrames measures what one frame of an answer of 512 frames costs from
// bytes to events, without a network: time and allocations per frame.
func BenchmarkFrames(b *testing.B) {
	const frames = 512
	all := builtin.All()
	bench := func(name string, frame func(i int) string, last string) {
		var answer strings.Builder
		for i := range frames {
			answer.WriteString(frame(i))
		}
		answer.WriteString(last)
		b.Run(name, func(b *testing.B) { runFrames(b, all[name], []byte(answer.String()), frames) })
	}
	bench("native", func(i int) string { return fmt.Sprintf("{\"id\":%d,\"text\":\" word\"}\n", i) },
		`{"done":"stop","reason":"eos","prompt_tokens":12,"completion_tokens":512}`+"\n")
	text := ""
	bench("fastchat", func(i int) string {
		text += " word\\n"
		return fmt.Sprintf(`{"text": "%s", "error_code": 0, "usage": {"prompt_tokens": 12, "completion_tokens": %d, "total_tokens": %d}, "finish_reason": null, "logprobs": null}`+"\x00", text, i, 12+i)
	}, `{"text": "", "error_code": 0, "finish_reason": "stop"}`+"\x00")
	chunk := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}` + "\n\n"
	bench("openai", func(int) string { return fmt.Sprintf(chunk, `{"content":" word"}`, "null") },
		fmt.Sprintf(chunk, "{}", `"stop"`)+"data: [DONE]\n\n")
	bench("torchchat", func(int) string { return fmt.Sprintf(chunk, `{"role":"assistant","content":" word"}`, "null") },
		fmt.Sprintf(chunk, "{}", `"stop"`))
}

func runFrames(b *testing.B, a adapters.Adapter, data []byte, frames int) {
	req := &llm.Request{Model: "m", Stream: true, N: 1, Raw: []byte("{}"), Prompt: llm.Prompt{{Text: "x"}}}
	body := &pieces{data: data}
	up := &stream.Upstream{URL: "http://backend.test", Client: &http.Client{Transport: body}}
	var events []llm.Event
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		body.Reader = bytes.NewReader(data)
		s, err := stream.Open(context.Background(), up, a, req)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			events, err = s.Next(events[:0])
		}
		s.Close()
		if err != io.EOF {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(frames), "ns/frame")
}

// pieces is a backend that gives the same answer to every call.
type pieces struct {
	*bytes.Reader
	data []byte
}

// RoundTrip implements http.RoundTripper.
func (p *pieces) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(p.Reader)}, nil
}
