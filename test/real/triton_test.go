//go:build real

package real

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"dragoman/test/harness"
)

// tritonServer starts Triton with models in Python that have the inputs and
// outputs of the vLLM backend and of TensorRT-LLM's ensemble.
func tritonServer(t *testing.T) (http1, grpc string, p *process) {
	t.Helper()
	repository := t.TempDir()
	source, err := os.ReadFile("triton/model.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"vllm_model", "ensemble"} {
		config, err := os.ReadFile(filepath.Join("triton", model, "config.pbtxt"))
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(repository, model)
		if err := os.MkdirAll(filepath.Join(dir, "1"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"config.pbtxt": config, "1/model.py": source} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	venv := inBin(t, "triton/venv")
	t.Setenv("PATH", filepath.Join(venv, "bin")+":"+os.Getenv("PATH"))
	packages, err := filepath.Glob(filepath.Join(venv, "lib/python3*/site-packages"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("packages in %v (%v)", packages, err)
	}
	t.Setenv("PYTHONPATH", packages[0])
	first, second := freePort(t), freePort(t)
	http1, grpc = "http://127.0.0.1:"+first, "http://127.0.0.1:"+second
	server := filepath.Join(packages[0], "pytriton/tritonserver")
	p = run(t, filepath.Join(server, "bin/tritonserver"), "--model-repository="+repository, "--backend-directory="+filepath.Join(server, "backends"),
		"--http-address=127.0.0.1", "--grpc-address=127.0.0.1", "--http-port="+first, "--grpc-port="+second, "--allow-metrics=false")
	p.ready(t, http.MethodGet, http1+"/v2/health/ready")
	return http1, grpc, p
}

// log returns what the process has said so far.
func (p *process) log(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(p.cmd.Stdout.(*os.File).Name())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTriton asks Triton by HTTP and by gRPC.
func TestTriton(t *testing.T) {
	http1, grpc, p := tritonServer(t)
	base := gateway(t, `  triton: {adapter: triton, url: "`+http1+`", model: vllm_model, template: plain}
  triton-grpc: {adapter: triton-grpc, url: "`+grpc+`", model: vllm_model, template: plain}
  triton-trtllm: {adapter: triton-trtllm, url: "`+http1+`", model: ensemble, template: plain}
  triton-trtllm-grpc: {adapter: triton-trtllm-grpc, url: "`+grpc+`", model: ensemble, template: plain}
  missing: {adapter: triton-grpc, url: "`+grpc+`", model: missing, template: plain}
  http-port: {adapter: triton-grpc, url: "`+http1+`", model: vllm_model, template: plain}
`)
	const settings = `, "max_tokens": 8, "temperature": 0.5, "top_p": 0.25, "top_k": 5, "seed": -7, "presence_penalty": 0.5`
	for _, name := range []string{"triton", "triton-grpc", "triton-trtllm", "triton-trtllm-grpc"} {
		t.Run(name, func(t *testing.T) {
			f := &front{base: base, model: name}
			finish, usage := "length", "9/4"
			if name != "triton" && name != "triton-grpc" {
				finish, usage = "stop", "estimated"
			}
			f.play(t, script{"plain", `"messages": [{"role": "user", "content": "Hi 杭"}], "stop": ["zz", "杭州"]` + settings, "Hello 杭👋", finish, usage})
			f.play(t, script{"stopstring", `"prompt": "Hi", "max_tokens": 8, "stop": ["o "]`, "Hell", "stop", ""})
			harness.Do(t, http.MethodPost, base+"/v1/completions", `{"model": "`+name+`", "prompt": "refuse", "max_tokens": 8}`).
				Want(t, http.StatusBadRequest, "", "")
			frames := harness.Do(t, http.MethodPost, base+"/v1/completions", `{"model": "`+name+`", "prompt": "midway", "stream": true}`).Frames(t)
			if n := len(frames); n < 3 || !bytes.Contains([]byte(frames[n-2]), []byte("no memory")) {
				t.Errorf("got %q", frames)
			}
			before := bytes.Count(p.log(t), []byte("CANCELLED"))
			_, leave := f.open(t, `"prompt": "endless", "max_tokens": 4000`)
			leave()
			p.until(t, "the model is told to stop", func() bool { return bytes.Count(p.log(t), []byte("CANCELLED")) > before })
		})
	}
	asked := []byte(`ASKED {"bad_words": [""], "exclude_input_in_output": [true], "max_tokens": [8], "presence_penalty": [0.5], "seed": [0], ` +
		`"stop_words": ["zz", "\u676d\u5dde", "\nUser:"], "stream": [true], "temperature": [0.5], "text_input": [`)
	if !bytes.Contains(p.log(t), asked) {
		t.Error("the ensemble was not asked as it should be")
	}
	for name, status := range map[string]int{"missing": http.StatusBadGateway, "http-port": http.StatusBadGateway} {
		harness.Do(t, http.MethodPost, base+"/v1/completions", `{"model": "`+name+`", "prompt": "Hi"}`).Want(t, status, "upstream_error", "")
	}
}
