package builtin

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"dragoman/adapters/frame"
)

func TestAll(t *testing.T) {
	all := All()
	names := slices.Sorted(maps.Keys(all))
	if got, want := strings.Join(names, " "), "anthropic azure bedrock bentoml cog cohere fastchat gemini kobold lightllm llamacpp lmdeploy mii mii-grpc mistral native oip ollama "+
		"openai openllm raw raw-lines raw-ndjson raw-sse replicate sglang textgen tgi torchchat torchchat-json torchchat-raw triton triton-grpc triton-llmapi triton-llmapi-grpc triton-trtllm triton-trtllm-grpc vllm"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, a := range all {
		traits := a.Traits()
		if _, ok := frame.ParseKind(traits.Framing.String()); !ok {
			t.Errorf("%s: framing %v", name, traits.Framing)
		}
	}
	delete(all, "raw")
	if All()["raw"] == nil {
		t.Error("one caller's change reached another")
	}
}
