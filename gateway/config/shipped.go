package config

import (
	"dragoman/adapters"
	"dragoman/adapters/builtin"
	"dragoman/adapters/prompt"
)

// shipped is what a configuration may name without defining it.
type shipped struct {
	adapters  map[string]adapters.Adapter
	templates []string
}

func theShipped() shipped { return shipped{builtin.All(), prompt.Names()} }
