package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// server is a running server, asked in its own protocol.
type server struct {
	name string
	url  string // of what generates
	body func(request) any
	cmd  *exec.Cmd
	log  bytes.Buffer
}

// request is what both servers are asked.
type request struct {
	prompt string
	max    int
	seed   int // of the sampler; greedy is none
}

const greedy = -1

func (r request) temperature() float64 {
	if r.seed == greedy {
		return 0
	}
	return 0.8
}

// answer is what came of a request.
type answer struct {
	start  time.Time
	at     []time.Time // when each piece of the text came
	text   string
	prompt int // tokens that the server says it read
	tokens int // tokens that the server says it generated
}

// first is the time to the first token, very long if none came.
func (a *answer) first() time.Duration {
	if len(a.at) == 0 {
		return math.MaxInt64
	}
	return a.at[0].Sub(a.start)
}

// both starts the two that are compared, for that many streams of that many
// tokens, and returns a function that ends them.
func (t *table) both(ctx context.Context, streams, context int) (servers [2]*server, stop func(), err error) {
	one, two := t.startEngine, t.startLlama
	switch {
	case t.gpu != "":
		one, two = t.on(t.gpu), t.on("cpu")
	case t.against != "":
		other := *t
		other.engine = t.against
		two = other.startEngine
	}
	a, err := one(ctx, streams, context)
	if err != nil {
		return servers, nil, err
	}
	b, err := two(ctx, streams, context)
	if err != nil {
		a.stop()
		return servers, nil, err
	}
	servers, stop = [2]*server{a, b}, func() { a.stop(); b.stop() }
	for _, s := range servers { // a GPU compiles its programs when they are first wanted
		if _, err := s.ask(ctx, request{chat("Tell a story."), 8, 0}, nil); err != nil {
			stop()
			return servers, nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return servers, stop, nil
}

// on returns what starts the engine on a device.
func (t *table) on(device string) func(context.Context, int, int, ...string) (*server, error) {
	return func(ctx context.Context, streams, context int, args ...string) (*server, error) {
		s, err := t.startEngine(ctx, streams, context, append(args, "-device", device)...)
		s.name = device
		return s, err
	}
}

func (t *table) startEngine(ctx context.Context, streams, context int, args ...string) (*server, error) {
	s := &server{name: "engine", body: func(r request) any {
		return map[string]any{
			"prompt": []any{map[string]any{"text": r.prompt, "special": true}}, "max_tokens": r.max,
			"temperature": r.temperature(), "top_k": 40, "top_p": 0.95, "min_p": 0.05, "seed": r.seed,
		}
	}}
	at := freeAddress()
	s.url = "http://" + at + "/generate"
	args = append(args, "-model", t.model, "-lib", t.lib, "-listen", at, "-parallel", strconv.Itoa(streams), "-ctx", strconv.Itoa(context))
	return s, s.start(ctx, t.engine, append(args, t.engineArgs...), "http://"+at+"/health")
}

func (t *table) startLlama(ctx context.Context, streams, context int, _ ...string) (*server, error) {
	s := &server{name: "llama-server", body: func(r request) any {
		return map[string]any{
			"prompt": r.prompt, "n_predict": r.max, "stream": true,
			"temperature": r.temperature(), "top_k": 40, "top_p": 0.95, "min_p": 0.05, "seed": r.seed,
		}
	}}
	at := freeAddress()
	s.url = "http://" + at + "/completion"
	_, port, _ := net.SplitHostPort(at)
	args := []string{"--model", t.model, "--host", "127.0.0.1", "--port", port, "--parallel", strconv.Itoa(streams), "--ctx-size", strconv.Itoa(streams * context)}
	return s, s.start(ctx, filepath.Join(t.llama, "llama-server"), append(args, t.llamaArgs...), "http://"+at+"/health")
}

// trained returns how many tokens the model was trained for.
func (t *table) trained(engine *server) (int, error) {
	res, err := client.Get(strings.TrimSuffix(engine.url, "/generate") + "/props")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var props struct {
		Trained int `json:"n_ctx_train"`
	}
	err = json.NewDecoder(res.Body).Decode(&props)
	return props.Trained, err
}

// freeAddress returns an address of the loopback interface that nobody uses now.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:18080"
	}
	defer l.Close()
	return l.Addr().String()
}

// start runs the program and waits until it is healthy.
func (s *server) start(ctx context.Context, program string, args []string, health string) error {
	s.cmd = exec.CommandContext(ctx, program, args...)
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		res, err := http.Get(health)
		if err != nil {
			continue
		}
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return nil
		}
	}
	s.stop()
	return fmt.Errorf("%s did not start: %s", s.name, s.log.Bytes()[max(0, s.log.Len()-500):])
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// client opens a connection for each request: llama-server closes idle ones, and
// what was just sent on one is lost.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// line is a line of either protocol.
type line struct {
	ID     *int   `json:"id"` // engine: a token
	Text   string `json:"text"`
	Done   string `json:"done"`
	Prompt int    `json:"prompt_tokens"`
	Tokens int    `json:"completion_tokens"`

	Content   string `json:"content"` // llama-server
	Stop      bool   `json:"stop"`
	Evaluated int    `json:"tokens_evaluated"`
	Predicted int    `json:"tokens_predicted"`

	Error json.RawMessage `json:"error"`
}

// ask sends a request and reads the stream to its end. It calls piece after
// each piece of text, if that is not nil. With an error goes what came before it.
func (s *server) ask(ctx context.Context, r request, piece func()) (*answer, error) {
	a := &answer{start: time.Now()}
	body, err := json.Marshal(s.body(r))
	if err != nil {
		return a, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	res, err := client.Do(req)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	in := bufio.NewScanner(res.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		text := bytes.TrimPrefix(in.Bytes(), []byte("data: "))
		if len(text) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return a, err
		}
		if l.Error != nil {
			return a, fmt.Errorf("%s: %s", res.Status, l.Error)
		}
		if l.ID != nil || l.Content != "" {
			a.at = append(a.at, time.Now())
			a.text += l.Text + l.Content
			if piece != nil {
				piece()
			}
		}
		if l.Done != "" || l.Stop {
			a.prompt, a.tokens = l.Prompt+l.Evaluated, l.Tokens+l.Predicted
			_, err = io.Copy(io.Discard, res.Body) // the connection can serve again
		}
	}
	switch {
	case in.Err() != nil:
		return a, in.Err()
	case len(a.at) == 0 || a.tokens == 0:
		return a, errors.New("the answer has no tokens, or no end")
	}
	return a, err
}
