// Package triton speaks to NVIDIA Triton over gRPC: ModelStreamInfer of the Open
// Inference Protocol. What a model's inputs are is said elsewhere, once: Triton
// makes tensors of the members of the JSON that its generate extension takes over
// HTTP, and so does this package.
package triton

import (
	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
	"dragoman/adapters/protobuf"
)

// Adapter speaks ModelStreamInfer.
type Adapter struct {
	generate adapters.Adapter
	batched  bool
	traits   adapters.Traits
}

var _ adapters.Adapter = (*Adapter)(nil)

// New returns the adapter for the models that generate speaks to over HTTP.
// batched says that their configuration has a max_batch_size: each tensor then has
// one dimension more.
func New(generate adapters.Adapter, batched bool) *Adapter {
	a := &Adapter{generate: generate, batched: batched, traits: *generate.Traits()}
	a.traits.Framing = frame.GRPC
	a.traits.Health, a.traits.Models = adapters.Question{}, adapters.Question{} // which are HTTP's
	return a
}

// Traits implements adapters.Adapter.
func (a *Adapter) Traits() *adapters.Traits { return &a.traits }

const method = "/inference.GRPCInferenceService/ModelStreamInfer"

// Fields of ModelInferRequest, of InferInputTensor and of InferParameter.
const (
	requestModel, requestParameters, requestInputs, requestContents = 1, 4, 5, 7

	inputName, inputDatatype, inputShape = 1, 2, 3

	parameterBool = 1
)

// Request implements adapters.Adapter.
func (a *Adapter) Request(req *llm.Request) (adapters.Call, error) {
	said, err := a.generate.Request(req)
	if err != nil {
		return adapters.Call{}, err
	}
	m := protobuf.AppendText(nil, requestModel, req.Model)
	// With this, the last response says that it is, though it may hold nothing.
	m = protobuf.AppendEntry(m, requestParameters, "triton_enable_empty_final_response", protobuf.AppendBool(nil, parameterBool, true))
	var contents []byte
	for name, value := range jsonscan.All(said.Body) {
		t, err := tensorOf(string(name), value)
		if err != nil {
			return adapters.Call{}, err
		}
		shape := []byte{byte(t.count)} // varints, packed
		if a.batched {
			shape = []byte{1, byte(t.count)}
		}
		input := protobuf.AppendText(nil, inputName, string(name))
		input = protobuf.AppendText(input, inputDatatype, t.datatype)
		input = protobuf.AppendBytes(input, inputShape, shape)
		m = protobuf.AppendBytes(m, requestInputs, input)
		contents = protobuf.AppendBytes(contents, requestContents, t.contents)
	}
	call := adapters.PostGRPC(method, append(m, contents...))
	call.Header["Triton_grpc_error"] = []string{"true"} // else failures come without a code
	return call, nil
}
