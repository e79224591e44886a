package config

import "time"

// Model is one entry of the models section.
type Model struct {
	// Name is what clients ask for, case-sensitive. A * at its end stands for any
	// text: "ollama/*", or "*" for everything that no other entry takes.
	Name    string
	Aliases []string // other names for it; without *
	// Path is where the entry stands, for messages: models.vicuna-13b.
	Path string
	// Backends serve the model, at least one. An entry that states its backend's
	// keys beside its aliases is a list of one.
	Backends []Backend
	// Fallback names the models that answer, in this order, when no backend of
	// this one does: names, aliases, or what a wildcard entry takes. Their own
	// fallbacks come after each; no way leads back.
	Fallback []string
}

// Wildcard reports whether the name ends in *.
func (m *Model) Wildcard() bool { return m.Name != "" && m.Name[len(m.Name)-1] == '*' }

// Backend says where a model is served and how to speak to it: a server at URL,
// one that a Controller names, or an Engine that the gateway starts itself.
type Backend struct {
	// Adapter names the dialect. Engines speak native.
	Adapter string `yaml:"adapter"`
	// URL is where the server listens: http or https, host, optional port, and a
	// path and a query of its own if there are any. The adapter's path goes after
	// the path, before the query: with http://h:1/x?api-version=1 the adapter's
	// /generate is http://h:1/x/generate?api-version=1. A version in it
	// (/v1, /api/paas/v4, /v1beta/openai) takes the place of one that the adapter's
	// path begins with: to openai, which calls /v1/chat/completions, http://h:1 and
	// http://h:1/v1 are the same. A slash at the end means nothing. A whole route
	// such as http://h:1/v1/chat/completions is refused: the adapter knows it. Where
	// the adapter speaks over a WebSocket, ws and wss may stand for http and https.
	URL string `yaml:"url"`
	// Controller stands in place of URL where servers are found by asking one of
	// their own, such as FastChat's controller, at this URL: which of them answers
	// a request, and in a wildcard entry which models there are.
	Controller string `yaml:"controller"`
	// Engine is set for a model that the bundled engine serves.
	Engine *Engine `yaml:"engine"`

	// Model is the backend's name for the model. Default: the entry's name. In a
	// wildcard entry a * in it is what the * of the name stood for, and the
	// default is the name that the client sent.
	Model string `yaml:"model"`
	// Key is sent as "Authorization: Bearer KEY"; KeyFile names a file that
	// holds it.
	Key     Secret `yaml:"key"`
	KeyFile string `yaml:"key_file"`
	// Headers are sent with every call. Their values count as secrets.
	Headers map[string]Secret `yaml:"headers"`
	// ForwardAuth passes the client's own Authorization header on, in place of
	// Key. Where the gateway asks for keys, that is one of them.
	ForwardAuth bool `yaml:"forward_auth"`
	// AWS is set for a backend whose calls are signed. Default, where the adapter
	// signs: what AWS's own programs find, unless there is a Key, ForwardAuth, an
	// Authorization header, or AWS_BEARER_TOKEN_BEDROCK in the environment, which
	// becomes the Key.
	AWS *AWS `yaml:"aws"`
	// Proxy is an http, https or socks5 URL, or none. Default: HTTP_PROXY and its
	// like, except for loopback addresses.
	Proxy   string  `yaml:"proxy"`
	Timeout Timeout `yaml:"timeout"`
	// Weight is the backend's share of the model's requests, against the weights
	// of the others: 0 to 1000, nil is 1. With 0 it gets those that no other
	// backend could answer; some backend of a model has more.
	Weight *int `yaml:"weight"`
	// MaxConcurrent is how many requests the backend gets at once; others go to
	// another backend of the model, or wait. Default: what the adapter says, else
	// no bound.
	MaxConcurrent int `yaml:"max_concurrent"`

	// Template names the chat template for backends that take a prompt: a
	// shipped one, or a file whose name ends in .jinja.
	Template string `yaml:"template"`
	// TemplateFile is the path of that file; "" if Template is a name.
	TemplateFile string
	// BOSToken and EOSToken are what Template sees as bos_token and eos_token.
	// Default: no BOS, which servers put there themselves, and the EOS that a
	// shipped template is used with.
	BOSToken string `yaml:"bos_token"`
	EOSToken string `yaml:"eos_token"`
	// Fold reshapes conversations that Template does not take: system messages
	// become part of the next user message, neighbours of one role are joined.
	// Where it is false they are refused. Default true.
	Fold *bool `yaml:"fold"`
	// Parse names the notation of the tool calls that the model writes as text
	// (docs/reasoning-and-tools.md): auto, the default, is what the chat template
	// holds, none leaves the text alone. Reasoning says the same of reasoning: tags
	// looks for all known tags, opened begins within it.
	Parse     string `yaml:"parse"`
	Reasoning string `yaml:"reasoning"`
	// DefaultMaxTokens bounds an answer whose client set no bound, where the
	// backend has no "no limit" of its own. Default 1024.
	DefaultMaxTokens int64 `yaml:"default_max_tokens"`
	// Drop lists request fields that are left out, where the backend cannot do
	// with them and clients cannot do without them.
	Drop []string `yaml:"drop"`

	// EndTexts replaces the adapter's list of texts that are cut off at the very
	// end of an answer, such as </s>.
	EndTexts []string `yaml:"end_texts"`
	// Cumulative, EchoPrompt and EOFIsFinish replace what the adapter says about
	// its protocol, if set.
	Cumulative  *bool `yaml:"cumulative"`
	EchoPrompt  *bool `yaml:"echo_prompt"`
	EOFIsFinish *bool `yaml:"eof_is_finish"`
}

// Timeout bounds the phases of one call to a backend.
type Timeout struct {
	Connect time.Duration `yaml:"connect"` // to reach the server; default 5s
	First   time.Duration `yaml:"first"`   // to the first event of the answer; default 300s
	Idle    time.Duration `yaml:"idle"`    // between two events; default 120s
}

var defaultTimeout = Timeout{Connect: 5 * time.Second, First: 300 * time.Second, Idle: 120 * time.Second}

// Engine says which model the bundled engine loads, and how. Zero values leave
// the choice to the engine.
type Engine struct {
	// Model is builtin:stories, a .gguf file, relative to the configuration's
	// folder, or what dragoman pull has downloaded: smollm2, hf:owner/name:Q4_K_M.
	Model    string        `yaml:"model"`
	Ctx      int           `yaml:"ctx"`      // tokens that one request may have, prompt and answer together
	Parallel int           `yaml:"parallel"` // requests at once, at most 256
	Threads  int           `yaml:"threads"`
	TTL      time.Duration `yaml:"ttl"` // idle time after which the engine is stopped; 0: never
	Lib      string        `yaml:"lib"` // folder of the llama.cpp libraries
	// Embeddings has the model give embeddings in place of text. One that does
	// nothing else does so anyway.
	Embeddings bool `yaml:"embeddings"`

	// Device is where to compute: auto (a GPU if there is one), cpu, vulkan, cuda
	// or metal. GPULayers says how many layers a GPU gets: auto, or a number.
	Device    string `yaml:"device"`
	GPULayers string `yaml:"gpu_layers"`
	// CacheTypeK and CacheTypeV are the types of what the engine remembers of a
	// conversation: f16 (default), or q8_0, q4_0 and others to save memory.
	CacheTypeK     string `yaml:"cache_type_k"`
	CacheTypeV     string `yaml:"cache_type_v"`
	FlashAttention string `yaml:"flash_attention"` // auto (default), on or off
	// RopeScaling stretches the model's context: model (default, what the file
	// says), none, linear or yarn. Frequencies of 0 are the model's own.
	RopeScaling   string  `yaml:"rope_scaling"`
	RopeFreqBase  float64 `yaml:"rope_freq_base"`
	RopeFreqScale float64 `yaml:"rope_freq_scale"`
	// CheckMemory refuses the model if it does not seem to fit into memory.
	// Default true.
	CheckMemory *bool `yaml:"check_memory"`
}
