package sdk

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"dragoman/test/harness"
)

func official(base string) openai.Client {
	return openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
}

func chat(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "vicuna-13B",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

func TestOpenAIGo(t *testing.T) {
	backend := harness.NewBackend(t, harness.PirateWorker)
	client := official(harness.Gateway(t, pirateConfig(backend)))
	ctx := t.Context()

	t.Run("text and usage", func(t *testing.T) {
		answer, err := client.Chat.Completions.New(ctx, chat("I love Red Hat!"))
		if err != nil {
			t.Fatal(err)
		}
		if c := answer.Choices[0]; c.Message.Content != harness.Pirate || c.FinishReason != "stop" {
			t.Errorf("answer: %s", answer.RawJSON())
		}
		if u := answer.Usage; u.PromptTokens != 12 || u.CompletionTokens != 5 || u.TotalTokens != 17 {
			t.Errorf("usage: %s", answer.RawJSON())
		}
	})
	t.Run("streaming with usage", func(t *testing.T) {
		params := chat("I love Red Hat!")
		params.StreamOptions.IncludeUsage = openai.Bool(true)
		stream := client.Chat.Completions.NewStreaming(ctx, params)
		var acc openai.ChatCompletionAccumulator
		for stream.Next() {
			if !acc.AddChunk(stream.Current()) {
				t.Errorf("the accumulator refused %s", stream.Current().RawJSON())
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		if acc.Choices[0].Message.Content != harness.Pirate || acc.Usage.TotalTokens != 17 {
			t.Errorf("accumulated %+v", acc)
		}
	})
	t.Run("stop", func(t *testing.T) {
		params := chat("I love Red Hat!")
		params.Stop.OfStringArray = []string{"operating"}
		answer, err := client.Chat.Completions.New(ctx, params)
		if err != nil || answer.Choices[0].Message.Content != "Aye, Red Hat be a fine " {
			t.Errorf("answer %v, error %v", answer, err)
		}
	})
	t.Run("error before", func(t *testing.T) {
		var apiError *openai.Error
		if _, err := client.Chat.Completions.New(ctx, chat("fail first")); !errors.As(err, &apiError) || !strings.Contains(apiError.Message, "out of memory") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("error in the stream", func(t *testing.T) {
		stream := client.Chat.Completions.NewStreaming(ctx, chat("fail midway"))
		text := ""
		for stream.Next() {
			text += stream.Current().Choices[0].Delta.Content
		}
		if err := stream.Err(); err == nil || !strings.Contains(err.Error(), "out of memory") || text != "Aye, Red Hat" {
			t.Errorf("text %q, error %v", text, err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		stream := client.Chat.Completions.NewStreaming(ctx, chat("slow"))
		for stream.Next() && stream.Current().Choices[0].Delta.Content == "" {
		}
		cancel()
		wantGone(t, backend)
	})
	t.Run("embeddings", func(t *testing.T) {
		texts := []string{"a", "bb", "ccc", "dddd", "eeeee"}
		params := openai.EmbeddingNewParams{Model: "vicuna-13B", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}}
		answer, err := client.Embeddings.New(ctx, params)
		if err != nil || len(answer.Data) != len(texts) || answer.Usage.PromptTokens != 15 || answer.Model != "vicuna-13B" {
			t.Fatalf("answer %v, error %v", answer, err)
		}
		for i, d := range answer.Data {
			if v := d.Embedding; d.Index != int64(i) || len(v) != 3 || v[0] != float64(len(texts[i])) || v[1] != -0.25 || v[2] != 1e-7 {
				t.Errorf("embedding %d: %s", i, d.RawJSON())
			}
		}
		params.Input = openai.EmbeddingNewParamsInputUnion{OfArrayOfTokens: []int64{1, 2}}
		var apiError *openai.Error
		if _, err := client.Embeddings.New(ctx, params); !errors.As(err, &apiError) || apiError.StatusCode != 400 || apiError.Param != "input" {
			t.Errorf("token ids: %v", err)
		}
	})
	t.Run("models", func(t *testing.T) {
		model, err := client.Models.Get(ctx, "vicuna-13b")
		if err != nil || model.ID != "vicuna-13b" {
			t.Errorf("model %v, error %v", model, err)
		}
	})
}

func pirateConfig(b *harness.Backend) string {
	return "models: {vicuna-13b: {aliases: [vicuna-13B], adapter: fastchat, url: '" + b.URL + "'}}"
}

// wantGone fails the test unless the backend's slow request ends soon.
func wantGone(t *testing.T, backend *harness.Backend) {
	t.Helper()
	for {
		r := backend.Request()
		if !strings.Contains(r.Body, "slow") {
			continue
		}
		select {
		case <-r.Gone:
		case <-time.After(5 * time.Second):
			t.Error("the client went away and its request at the backend lives on")
		}
		return
	}
}
