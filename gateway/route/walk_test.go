package route

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"dragoman/gateway/config"
	"dragoman/gateway/openai"
)

// worker is a FastChat worker as far as a request needs one.
func worker(t *testing.T, bodies chan<- string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/worker_get_conv_template":
			says(`{"conv":{"name":"vicuna_v1.1","system_template":"{system_message}","system_message":"A chat.",
				"roles":["USER","ASSISTANT"],"messages":[],"sep_style":2,"sep":" ","sep2":"</s>","stop_str":null,"stop_token_ids":null}}`)(w, r)
		case "/model_details":
			says(`{"context_length":64}`)(w, r)
		case "/count_token":
			count := 13
			if strings.Contains(string(body), "far too long") {
				count = 64
			}
			says(fmt.Sprintf(`{"count":%d,"error_code":0}`, count))(w, r)
		case "/worker_generate_stream":
			bodies <- string(body)
			says("{\"text\":\"Ahoy\",\"error_code\":0}\x00{\"text\":\"Ahoy there\",\"error_code\":0,\"finish_reason\":\"stop\"}\x00")(w, r)
		default:
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
	}
}

// TestFromConfigurationToAnswer walks real requests through shipped adapters.
func TestFromConfigurationToAnswer(t *testing.T) {
	bodies := make(chan string, 10)
	fastchat := serve(t, worker(t, bodies))
	like := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.URL.RequestURI() + " " + string(body)
		says("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")(w, r)
	})
	c, err := config.Parse([]byte(`
models:
  vicuna: {aliases: [gpt-3.5-turbo], adapter: fastchat, url: "` + fastchat + `", default_max_tokens: 99}
  "x/*": {adapter: openai, url: "` + like + `/v1/?key=1", model: "*", drop: [logit_bias]}
  mine: {adapter: loop, url: "` + like + `", template: chatml}
adapters:
  loop: {framing: raw, eof_is_finish: true, send: {path: /gen, map: {prompt: q}}, read: {text: "."}}
`))
	if err != nil {
		t.Fatal(err)
	}
	table, err := New(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close(t.Context())
	f := func(model, want, text1 string) {
		t.Helper()
		ask, err := openai.ParseChat([]byte(`{"model":"` + model + `","messages":[{"role":"user","content":"Hi!"}],"stream":true,"seed":18446744073709551,"logit_bias":{"5":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		if model != "x/qwen" {
			ask.Request.Needs = nil // the others would refuse logit_bias
		}
		s, err := pick(t, table, model).Open(t.Context(), &ask.Request)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, s); got != text1 {
			t.Errorf("%s: got %q, want %q", model, got, text1)
		}
		if got := <-bodies; !strings.Contains(got, want) {
			t.Errorf("%s: the backend got %s, want %s", model, got, want)
		}
	}
	f("gpt-3.5-turbo", `{"model":"vicuna","prompt":"A chat. USER: Hi! ASSISTANT:"`, "Ahoy there")
	f("vicuna", `"max_new_tokens":50`, "Ahoy there") // 99, but for the context
	f("x/qwen", `/v1/chat/completions?key=1 {"model":"qwen","messages":[{"role":"user","content":"Hi!"}],"seed":18446744073709551,"stream":true`, "hello")
	f("mine", `/gen {"q":"<|im_start|>user\nHi!<|im_end|>\n<|im_start|>assistant\n"}`,
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// TestBC065PromptThatAWorkerWouldCut: it is refused before anything is generated,
// and takes no slot with it.
func TestBC065PromptThatAWorkerWouldCut(t *testing.T) {
	bodies := make(chan string, 10)
	c, err := config.Parse([]byte(`models: {m: {adapter: fastchat, url: "` + serve(t, worker(t, bodies)) + `", max_concurrent: 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	table, err := New(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close(t.Context())
	for range 2 {
		_, err := pick(t, table, "m").Open(t.Context(), chat("far too long"))
		e := asError(t, err)
		if e.Status != 400 || e.Code != "context_length_exceeded" || !strings.Contains(e.Message, "maximum context length is 64 tokens") {
			t.Errorf("got %+v", e)
		}
	}
	s, err := pick(t, table, "m").Open(t.Context(), chat("Hi!"))
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, s); got != "Ahoy there" || len(bodies) != 1 {
		t.Errorf("got %q after %d calls", got, len(bodies))
	}
}

// TestBC079BaseURLs: each way to write the address of an OpenAI-like server
// leads to its route, with prefix and query kept.
func TestBC079BaseURLs(t *testing.T) {
	got := ""
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.RequestURI()
		says("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")(w, r)
	})
	f := func(end, want string) {
		t.Helper()
		c, err := config.Parse([]byte("models: {m: {adapter: openai, url: \"" + url + end + "\"}}"))
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "models.m.url: ") || !strings.Contains(err.Error(), url+"/v1\"") {
				t.Errorf("%s: got %v", end, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		table, err := New(c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close(t.Context())
		ask, err := openai.ParseChat([]byte(`{"model":"m","messages":[{"role":"user","content":"Hi!"}],"stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		s, err := pick(t, table, "m").Open(t.Context(), &ask.Request)
		if err != nil {
			t.Fatal(err)
		}
		text(t, s)
		if got != want {
			t.Errorf("%s: got %s, want %s", end, got, want)
		}
	}
	const path = "/v1/chat/completions"
	f("", path)
	f("/", path)
	f("/v1", path)
	f("/v1/", path)
	f("/base/v1", "/base"+path)
	f("/v1?api-version=1", path+"?api-version=1")
	f("/x?api-version=1", "/x"+path+"?api-version=1")
	f("/api/paas/v4", "/api/paas/v4/chat/completions")
	f("/v1/chat/completions", "")
	f("/v1/chat/completions/", "")
}
