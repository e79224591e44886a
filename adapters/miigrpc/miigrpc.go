// Package miigrpc speaks the gRPC protocol of DeepSpeed-MII 0.1.1 and later, which
// its REST server is a client of: modelresponse.proto. It says why an answer ended
// and counts tokens, as the REST server does not.
package miigrpc

import (
	"strconv"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/protobuf"
)

// Adapter speaks GeneratorReplyStream. The zero value is ready.
type Adapter struct{}

var _ adapters.Adapter = Adapter{}

var traits = adapters.Traits{
	Framing:      frame.GRPC,
	SingleChoice: true,
	NoMaxTokens:  true,
	EndTexts:     []string{"</s>", "<|endoftext|>", "<|im_end|>"}, // the last token is shown, whatever it is
	Accepts:      []string{"min_tokens", "temperature", "top_k", "top_p"},
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }

// Fields of MultiStringRequest and of Value.
const (
	requestPrompt, requestArguments = 1, 2

	valueInt, valueFloat, valueBool = 2, 3, 4
)

// Request implements adapters.Adapter. Stop strings are not sent: a list cannot be,
// and with a single one MII does not end an answer where the model ends it.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	m := protobuf.AppendText(nil, requestPrompt, req.Prompt.Text())
	argument := func(name string, value []byte) { m = protobuf.AppendEntry(m, requestArguments, name, value) }
	argument("stream", protobuf.AppendBool(nil, valueBool, true))
	if req.MaxTokens > 0 {
		argument("max_new_tokens", protobuf.AppendInt(nil, valueInt, req.MaxTokens))
	}
	if n, ok := number(req, llm.MinTokens); ok && n >= 0 {
		argument("min_new_tokens", protobuf.AppendInt(nil, valueInt, int64(n)))
	}
	switch t, ok := number(req, llm.Temperature); {
	case ok && t > 0:
		argument("temperature", protobuf.AppendFloat(nil, valueFloat, float32(max(t, 0.01)))) // it divides by it
	case ok:
		argument("do_sample", protobuf.AppendBool(nil, valueBool, false))
	}
	if p, ok := number(req, llm.TopP); ok {
		argument("top_p", protobuf.AppendFloat(nil, valueFloat, float32(min(max(p, 0.01), 1))))
	}
	if k, ok := number(req, llm.TopK); ok && k >= 1 {
		argument("top_k", protobuf.AppendInt(nil, valueInt, int64(k)))
	}
	return adapters.PostGRPC("/modelresponse.ModelResponse/GeneratorReplyStream", m), nil
}

// number returns a setting of the request, and whether it has it.
func number(req *llm.Request, p llm.Param) (float64, bool) {
	f, err := strconv.ParseFloat(req.Params[p], 64)
	return f, err == nil
}
