package sdk

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
	goopenai "github.com/sashabaranov/go-openai"

	"dragoman/engine/enginetest"
	"dragoman/engine/fakellama"
	"dragoman/test/harness"
)

// wavering is a gateway before an engine that likes a best, then b, then the end.
func wavering(t *testing.T) string {
	t.Helper()
	m := &fakellama.Model{Weigh: func(tokens []int32, logits []float32) {
		for i := range logits {
			logits[i] = -20
		}
		logits['a'], logits['b'], logits['"'], logits[fakellama.EOS] = 3, 2, 1, 0
	}}
	return harness.Gateway(t, fmt.Sprintf("models: {m: {adapter: native, url: %q}}\n", enginetest.New(t, m, enginetest.Options{}).URL))
}

// What the clients make of log-probabilities, forms and several choices.
func TestOutputControl(t *testing.T) {
	base := wavering(t)
	params := openai.ChatCompletionNewParams{
		Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Q:")}, Temperature: openai.Float(0), MaxTokens: openai.Int(3),
	}
	client := official(base)
	t.Run("openai-go: logprobs", func(t *testing.T) {
		params := params
		params.Logprobs, params.TopLogprobs, params.N = openai.Bool(true), openai.Int(2), openai.Int(2)
		stream := client.Chat.Completions.NewStreaming(t.Context(), params)
		var acc openai.ChatCompletionAccumulator
		for stream.Next() {
			if !acc.AddChunk(stream.Current()) {
				t.Errorf("the accumulator refused %s", stream.Current().RawJSON())
			}
		}
		if stream.Err() != nil || len(acc.Choices) != 2 {
			t.Fatalf("%v: %+v", stream.Err(), acc)
		}
		for _, c := range acc.Choices {
			if l := c.Logprobs.Content; c.Message.Content != "aaa" || len(l) != 3 || l[2].Token != "a" || l[2].Logprob >= 0 || len(l[2].TopLogprobs) != 2 || l[2].TopLogprobs[1].Token != "b" {
				t.Errorf("got %+v", c)
			}
		}
	})
	t.Run("openai-go: a schema", func(t *testing.T) {
		params := params
		params.MaxTokens = openai.Int(100)
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "x", Strict: openai.Bool(true), Schema: map[string]any{
				"type": "object", "properties": map[string]any{"word": map[string]any{"type": "string", "maxLength": 4}},
				"required": []string{"word"}, "additionalProperties": false,
			},
		}}
		answer, err := client.Chat.Completions.New(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		var v struct{ Word string }
		if err := json.Unmarshal([]byte(answer.Choices[0].Message.Content), &v); err != nil || v.Word != "aaaa" || answer.Choices[0].FinishReason != "stop" {
			t.Errorf("%v: %s", err, answer.RawJSON())
		}
	})
	t.Run("go-openai: completions with logprobs", func(t *testing.T) {
		config := goopenai.DefaultConfig("none")
		config.BaseURL = base + "/v1"
		answer, err := goopenai.NewClientWithConfig(config).CreateCompletion(t.Context(), goopenai.CompletionRequest{
			Model: "m", Prompt: "Q:", MaxTokens: 2, LogProbs: 2, Temperature: 1e-9, LogitBias: map[string]int{"97": -100},
		})
		if err != nil {
			t.Fatal(err)
		}
		c := answer.Choices[0]
		if l := c.LogProbs; c.Text != "bb" || len(l.Tokens) != 2 || l.Tokens[1] != "b" || l.TopLogprobs[0]["a"] >= 0 || l.TextOffset[1] != 1 {
			t.Errorf("got %+v", c)
		}
	})
}
