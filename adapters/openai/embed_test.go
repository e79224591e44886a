package openai

import (
	"testing"

	"dragoman/adapters/adaptertest"
)

func TestEmbeddings(t *testing.T) {
	adaptertest.RunEmbeddings(t, Adapter{}, "testdata/embeddings")
	adaptertest.RunEmbeddings(t, Azure{}, "testdata/embeddings-azure")
	adaptertest.RunEmbeddings(t, Mistral{}, "testdata/embeddings-mistral")
}
