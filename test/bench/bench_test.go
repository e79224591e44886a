package bench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dragoman/test/harness"
)

const (
	answer = `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there, how can I help you today?"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`
	event  = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}]}` + "\n\n"
	last   = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	chunks = 400 // of a stream
)

// dialects are the backends that are measured: a non-stream call to an
// OpenAI-like one, and streams of each.
var dialects = map[string]func(w io.Writer, flush func()){
	"openai": func(w io.Writer, flush func()) {
		for range chunks {
			io.WriteString(w, event)
			flush()
		}
		io.WriteString(w, last)
	},
	"native": func(w io.Writer, flush func()) {
		for i := range chunks {
			fmt.Fprintf(w, "{\"id\":%d,\"text\":\" token\"}\n", i)
			flush()
		}
		fmt.Fprintf(w, "{\"done\":\"stop\",\"reason\":\"eos\",\"prompt_tokens\":9,\"completion_tokens\":%d,\"timings\":{}}\n", chunks)
	},
	"fastchat": func(w io.Writer, flush func()) {
		text := ""
		for range chunks {
			text += " token"
			fmt.Fprintf(w, "{\"text\": %q, \"error_code\": 0, \"usage\": {\"prompt_tokens\": 9}, \"finish_reason\": null}\x00", text)
			flush()
		}
		fmt.Fprintf(w, "{\"text\": %q, \"error_code\": 0, \"finish_reason\": \"stop\"}\x00", text)
	},
}

func backend(b *testing.B, dialect string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path { // what the fastchat adapter asks before each request
		case "/model_details":
			io.WriteString(w, `{"context_length":4096}`)
			return
		case "/count_token":
			io.WriteString(w, `{"count":12,"error_code":0}`)
			return
		}
		if dialect == "openai" && !bytes.Contains(body, []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answer)
			return
		}
		dialects[dialect](w, w.(http.Flusher).Flush)
	}))
	b.Cleanup(server.Close)
	return server.URL
}

// BenchmarkCall measures one non-stream call after the other: the ratio of
// gateway to direct is what the gateway adds.
func BenchmarkCall(b *testing.B) {
	direct := backend(b, "openai")
	through := harness.Gateway(b, harness.Case{Adapter: "openai"}.Config(direct))
	for _, to := range []struct{ name, url string }{{"direct", direct}, {"gateway", through}} {
		b.Run(to.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				call(b, to.url, "")
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-us")
		})
	}
}

// BenchmarkStream measures the chunks that come through a number of streams at
// once, as fast as they go.
func BenchmarkStream(b *testing.B) {
	for _, dialect := range []string{"openai", "native", "fastchat"} {
		direct := backend(b, dialect)
		through := harness.Gateway(b, harness.Case{Adapter: dialect}.Config(direct))
		for _, streams := range []int{1, 256} {
			for _, to := range []struct{ name, url string }{{"direct", direct}, {"gateway", through}} {
				b.Run(fmt.Sprintf("%s/streams=%d/%s", dialect, streams, to.name), func(b *testing.B) {
					rounds := 0
					for b.Loop() {
						rounds++
						var wait sync.WaitGroup
						for range streams {
							wait.Go(func() { call(b, to.url, `,"stream":true`) })
						}
						wait.Wait()
					}
					b.ReportMetric(float64(rounds*streams*chunks)/b.Elapsed().Seconds(), "chunks/s")
				})
			}
		}
	}
}

func call(b *testing.B, url, extra string) {
	body := `{"model":"m","messages":[{"role":"user","content":"Hello"}]` + extra + `}`
	res, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Errorf("status %d, error %v", res.StatusCode, err)
	}
}
