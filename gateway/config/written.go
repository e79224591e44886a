package config

import (
	"time"

	"gopkg.in/yaml.v3"
)

// written is the top level of a document as it is written.
type written struct {
	Listen           yaml.Node     `yaml:"listen"` // a text or a list
	Insecure         bool          `yaml:"insecure"`
	Keys             []Secret      `yaml:"keys"`
	CORS             writtenCORS   `yaml:"cors"`
	Hosts            []string      `yaml:"hosts"`
	BodyLimit        string        `yaml:"body_limit"`
	FrameLimit       string        `yaml:"frame_limit"`
	EngineMemory     string        `yaml:"engine_memory"`
	Drain            time.Duration `yaml:"drain"`
	CommitAfter      time.Duration `yaml:"commit_after"`
	KeepAlive        time.Duration `yaml:"keep_alive"`
	WriteTimeout     time.Duration `yaml:"write_timeout"`
	DefaultMaxTokens int64         `yaml:"default_max_tokens"`
	Log              writtenLog    `yaml:"log"`
	Models           yaml.Node     `yaml:"models"`
	Adapters         yaml.Node     `yaml:"adapters"`
}

type writtenCORS struct {
	Origins []string `yaml:"origins"`
}

type writtenLog struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

// asDefault returns what a document without any keys would say, but for the
// addresses.
func asDefault() written {
	return written{
		Drain:            defaults.Drain,
		CommitAfter:      defaults.CommitAfter,
		KeepAlive:        defaults.KeepAlive,
		WriteTimeout:     defaults.WriteTimeout,
		DefaultMaxTokens: DefaultMaxTokens,
	}
}

// entry is a model as it is written: its one backend's keys stand beside its
// own, or below backends.
type entry struct {
	Aliases  []string  `yaml:"aliases"`
	Backends []Backend `yaml:"backends"`
	Fallback []string  `yaml:"fallback"`
	Backend  `yaml:",inline"`
}
