package cohere

import (
	"testing"

	"dragoman/adapters/adaptertest"
)

func TestEmbeddings(t *testing.T) { adaptertest.RunEmbeddings(t, Adapter{}, "testdata/embeddings") }
