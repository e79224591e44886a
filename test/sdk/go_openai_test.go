package sdk

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"dragoman/test/harness"
)

func ask(text string) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model:    "vicuna-13B",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: text}},
	}
}

func TestGoOpenAI(t *testing.T) {
	backend := harness.NewBackend(t, harness.PirateWorker)
	config := openai.DefaultConfig("none")
	config.BaseURL = harness.Gateway(t, pirateConfig(backend)) + "/v1"
	client := openai.NewClientWithConfig(config)
	ctx := t.Context()

	t.Run("text and usage", func(t *testing.T) {
		answer, err := client.CreateChatCompletion(ctx, ask("I love Red Hat!"))
		if err != nil || answer.Choices[0].Message.Content != harness.Pirate || answer.Usage.TotalTokens != 17 {
			t.Errorf("answer %+v, error %v", answer, err)
		}
	})
	read := func(request openai.ChatCompletionRequest) (text string, usage *openai.Usage, err error) {
		stream, err := client.CreateChatCompletionStream(ctx, request)
		if err != nil {
			return "", nil, err
		}
		defer stream.Close()
		for {
			chunk, err := stream.Recv()
			if err != nil {
				return text, usage, err
			}
			if chunk.Usage != nil {
				usage = chunk.Usage
			}
			for _, c := range chunk.Choices {
				text += c.Delta.Content
			}
		}
	}
	t.Run("streaming with usage", func(t *testing.T) {
		request := ask("I love Red Hat!")
		request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
		text, usage, err := read(request)
		if text != harness.Pirate || usage == nil || usage.TotalTokens != 17 || !errors.Is(err, io.EOF) {
			t.Errorf("text %q, usage %v, error %v", text, usage, err)
		}
	})
	t.Run("stop", func(t *testing.T) {
		request := ask("I love Red Hat!")
		request.Stop = []string{"operating"}
		if text, _, err := read(request); text != "Aye, Red Hat be a fine " || !errors.Is(err, io.EOF) {
			t.Errorf("text %q, error %v", text, err)
		}
	})
	t.Run("error before", func(t *testing.T) {
		var apiError *openai.APIError
		if _, _, err := read(ask("fail first")); !errors.As(err, &apiError) || !strings.Contains(apiError.Message, "out of memory") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("error in the stream", func(t *testing.T) {
		text, _, err := read(ask("fail midway"))
		if text != "Aye, Red Hat" || err == nil || !strings.Contains(err.Error(), "out of memory") {
			t.Errorf("text %q, error %v", text, err)
		}
	})
	t.Run("embeddings", func(t *testing.T) {
		request := openai.EmbeddingRequestStrings{Model: "vicuna-13B", Input: []string{"a", "bb"}}
		for _, request.EncodingFormat = range []openai.EmbeddingEncodingFormat{"", openai.EmbeddingEncodingFormatFloat, openai.EmbeddingEncodingFormatBase64} {
			answer, err := client.CreateEmbeddings(ctx, request)
			if err != nil || len(answer.Data) != 2 || answer.Usage.TotalTokens != 6 {
				t.Fatalf("%q: answer %v, error %v", request.EncodingFormat, answer, err)
			}
			if v := answer.Data[1].Embedding; len(v) != 3 || v[0] != 2 || v[1] != -0.25 || v[2] != 1e-7 {
				t.Errorf("%q: embedding %v", request.EncodingFormat, v)
			}
		}
		request.Input = []string{"fail first"}
		if _, err := client.CreateEmbeddings(ctx, request); err == nil || !strings.Contains(err.Error(), "out of memory") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		stream, err := client.CreateChatCompletionStream(ctx, ask("slow"))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		cancel()
		wantGone(t, backend)
	})
}
