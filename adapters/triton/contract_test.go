package triton_test

import (
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/adaptertest/prototest"
	"dragoman/adapters/builtin"
)

func TestContract(t *testing.T) {
	form := prototest.Form(t, "testdata/messages.textproto", "ModelInferRequest", "ModelStreamInferResponse")
	all := builtin.All()
	for _, name := range []string{"triton-grpc", "triton-trtllm-grpc", "triton-llmapi-grpc"} {
		t.Run(name, func(t *testing.T) { adaptertest.RunForm(t, all[name], "testdata/"+name, form) })
	}
}
