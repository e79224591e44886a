package cohere

import (
	"testing"

	"dragoman/adapters/adaptertest"
)

func TestContract(t *testing.T) { adaptertest.Run(t, Adapter{}, "testdata") }
