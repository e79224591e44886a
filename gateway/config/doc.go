// Package config turns config.yaml into a checked, read-only Config: strict,
// with defaults filled in and every error reported at once, each with its place,
// its value and the valid choices. It opens no socket and starts nothing; route
// and server build from the Config, and a reload builds a new one.
//
//	c, err := config.Load("config.yaml")
//	// err: config.yaml:7: models.vicuna.url: must begin with http:// or https://, not "10.0.0.5:21002"
//
// Every text value, except in the adapters section, may hold ${NAME}, which
// becomes the value of that environment variable; "$${" stands for "${".
// Environment values never appear in an error.
package config
