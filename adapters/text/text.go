// Package text holds the adapters for servers that take a prompt and answer
// with text, and need no code: declared adapters, NAME.yaml each.
//
//   - tgi: Hugging Face text-generation-inference
//   - vllm: vLLM's demonstration server, and Aphrodite's route of that shape
//   - sglang, lmdeploy, lightllm: their own routes
//   - triton, triton-trtllm, triton-llmapi: NVIDIA Triton with vLLM, with
//     TensorRT-LLM's ensemble or bls models, and with its LLM API
//   - oip: servers with the generate extension of the Open Inference Protocol
//   - kobold: KoboldCpp and servers with its route
//   - mii: DeepSpeed-MII's REST server
//   - cog: Cog containers
//   - openllm: OpenLLM 0.2 to 0.4
//   - textgen: text-generation-webui's own API of 2023, over a WebSocket
//   - bentoml: a BentoML service that yields text
//
// Servers that need an if have packages of their own; home-made ones are in
// package raw.
package text

import "embed"

// Files are the adapters, NAME.yaml each.
//
//go:embed *.yaml
var Files embed.FS
