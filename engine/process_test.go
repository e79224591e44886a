//go:build llama

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// process is a running engine.
type process struct {
	url    string
	client *http.Client
	stdin  io.Closer
	wait   func() error
	ready  ready
	stderr *bytes.Buffer // to be read after its end
}

func libDir() string {
	if dir := os.Getenv(libVariable); dir != "" {
		return dir
	}
	return filepath.Join("..", "bin", "lib")
}

// start runs an engine with the built-in model; the test's end stops it.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	cmd := command(t.Context(), append([]string{"-model", builtin, "-lib", libDir(), "-supervised"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{stdin: stdin, wait: sync.OnceValue(cmd.Wait), url: "http://engine", stderr: &stderr}
	t.Cleanup(func() {
		stdin.Close()
		p.wait()
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the engine did not start: %v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(line, &p.ready); err != nil {
		t.Fatal(err)
	}
	network, addr := "tcp", p.ready.Address
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	t.Cleanup(tr.CloseIdleConnections)
	p.client = &http.Client{Transport: tr}
	return p
}

// reply is an answer of /generate.
type reply struct {
	text   string
	ids    []int32
	status int
	last   struct {
		Done, Reason string
		Prompt       int `json:"prompt_tokens"`
		Completion   int `json:"completion_tokens"`
		Error        *struct {
			Code, Message string
			Context       int `json:"n_ctx"`
			PromptTokens  int `json:"prompt_tokens"`
		}
	}
}

// generate asks for an answer; settings are members of the request, as JSON.
func (p *process) generate(t testing.TB, question, settings string) (r reply) {
	t.Helper()
	resp, err := p.client.Post(p.url+"/generate", "application/json", strings.NewReader(request(question, settings)))
	if err != nil {
		t.Error(err)
		return r
	}
	defer resp.Body.Close()
	r.status = resp.StatusCode
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		var tok struct {
			ID    *int32
			Text  string
			Bytes []byte
		}
		if err := json.Unmarshal(lines.Bytes(), &tok); err != nil {
			t.Error(err)
			return r
		}
		if tok.ID == nil {
			if err := json.Unmarshal(lines.Bytes(), &r.last); err != nil {
				t.Error(err)
			}
			continue
		}
		r.ids = append(r.ids, *tok.ID)
		r.text += tok.Text + string(tok.Bytes)
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	return r
}

// request is a chat with one question, in the built-in model's template.
func request(question, settings string) string {
	q, err := json.Marshal(question)
	if err != nil {
		panic(err)
	}
	return `{"prompt":[{"text":"<|im_start|>user\n ","special":true},{"text":` + string(q) +
		`},{"text":"<|im_end|>\n<|im_start|>assistant\n","special":true}],` + settings + `}`
}

const (
	greedy = `"temperature":0`
	short  = `,"max_tokens":60`
)
