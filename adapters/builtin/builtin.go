// Package builtin is the list of the adapters that come with the gateway. What
// a name means in a configuration is decided here and nowhere else.
package builtin

import (
	"io/fs"
	"strings"

	"gopkg.in/yaml.v3"

	"dragoman/adapters"
	"dragoman/adapters/anthropic"
	"dragoman/adapters/bedrock"
	"dragoman/adapters/cohere"
	"dragoman/adapters/declared"
	"dragoman/adapters/fastchat"
	"dragoman/adapters/gemini"
	"dragoman/adapters/llamacpp"
	"dragoman/adapters/miigrpc"
	"dragoman/adapters/native"
	"dragoman/adapters/ollama"
	"dragoman/adapters/openai"
	"dragoman/adapters/raw"
	"dragoman/adapters/replicate"
	"dragoman/adapters/text"
	"dragoman/adapters/torchchat"
	"dragoman/adapters/triton"
)

// All returns the adapters by the names that configurations use. The map is the
// caller's, who may add adapters that the user declares.
func All() map[string]adapters.Adapter {
	all := map[string]adapters.Adapter{
		"anthropic": anthropic.Adapter{},
		"azure":     openai.Azure{},
		"bedrock":   bedrock.Adapter{},
		"cohere":    cohere.Adapter{},
		"fastchat":  fastchat.Adapter{},
		"gemini":    gemini.Adapter{},
		"llamacpp":  llamacpp.Adapter{},
		"mii-grpc":  miigrpc.Adapter{},
		"mistral":   openai.Mistral{},
		"native":    native.Adapter{},
		"ollama":    ollama.Adapter{},
		"openai":    openai.Adapter{},
		"replicate": replicate.Adapter{},
	}
	for _, files := range []fs.ReadDirFS{text.Files, torchchat.Files, raw.Files} {
		addDeclared(all, files)
	}
	all["triton-grpc"] = triton.New(all["triton"], false)
	all["triton-llmapi-grpc"] = triton.New(all["triton-llmapi"], true)
	all["triton-trtllm-grpc"] = triton.New(all["triton-trtllm"], true)
	return all
}

// addDeclared adds the adapters in files, NAME.yaml each. They were checked by
// this package's test, so a mistake in one is a broken build.
func addDeclared(all map[string]adapters.Adapter, files fs.ReadDirFS) {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, e := range entries {
		source, err := fs.ReadFile(files, e.Name())
		if err != nil {
			panic("BUG: " + err.Error())
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(source, &doc); err != nil {
			panic("BUG: " + e.Name() + ": " + err.Error())
		}
		name := strings.TrimSuffix(e.Name(), ".yaml")
		spec, errs := declared.Parse(name, &doc)
		if len(errs) > 0 {
			panic("BUG: " + errs[0].Error())
		}
		all[name] = declared.New(spec)
	}
}
