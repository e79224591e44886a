//go:build llama

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bert writes the file of a BERT that has learned nothing, and returns its path. It
// is as long as its header says, and reads a few words of lower case.
func bert(t *testing.T, pooling uint32) string {
	t.Helper()
	const width, feed, context, layers = 32, 64, 64, 2
	words := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "▁the", "▁cat", "▁dog", "▁sat", "▁a", "s", "▁mat"}
	kinds := make([]int32, len(words))
	for i := range kinds {
		if kinds[i] = 1; i < 5 {
			kinds[i] = 3 // control
		}
	}
	var header, infos, data bytes.Buffer
	put := func(to *bytes.Buffer, values ...any) {
		for _, v := range values {
			if text, ok := v.(string); ok {
				put := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
				to.Write(put)
			} else if err := binary.Write(to, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	pairs := uint64(0)
	pair := func(key string, kind uint32, values ...any) {
		put(&header, key, kind)
		put(&header, values...)
		pairs++
	}
	const number, real, boolean, text, array, signed = 4, 6, 7, 8, 9, 5
	pair("general.architecture", text, "bert")
	for key, n := range map[string]uint32{
		"bert.context_length": context, "bert.embedding_length": width, "bert.feed_forward_length": feed, "bert.block_count": layers,
		"bert.attention.head_count": 4, "bert.pooling_type": pooling, "tokenizer.ggml.token_type_count": 2,
		"tokenizer.ggml.padding_token_id": 0, "tokenizer.ggml.unknown_token_id": 1, "tokenizer.ggml.bos_token_id": 2,
		"tokenizer.ggml.seperator_token_id": 3, "tokenizer.ggml.mask_token_id": 4,
	} {
		pair(key, number, n)
	}
	pair("bert.attention.layer_norm_epsilon", real, float32(1e-12))
	pair("bert.attention.causal", boolean, false)
	pair("tokenizer.ggml.model", text, "bert")
	pair("tokenizer.ggml.tokens", array, uint32(text), uint64(len(words)))
	for _, word := range words {
		put(&header, word)
	}
	pair("tokenizer.ggml.token_type", array, uint32(signed), uint64(len(kinds)), kinds)

	random, tensors := rand.New(rand.NewPCG(1, 2)), uint64(0)
	tensor := func(name string, sizes ...uint64) {
		put(&infos, name, uint32(len(sizes)), sizes, uint32(0), uint64(data.Len()))
		n := uint64(1)
		for _, size := range sizes {
			n *= size
		}
		values := make([]float32, (n+7)/8*8) // what follows is aligned
		for i := range values {
			switch {
			case strings.HasSuffix(name, ".bias"):
			case len(sizes) == 1:
				values[i] = 1
			default:
				values[i] = float32(random.NormFloat64())
			}
		}
		put(&data, values)
		tensors++
	}
	norm := func(name string) {
		tensor(name+".weight", width)
		tensor(name+".bias", width)
	}
	tensor("token_embd.weight", width, uint64(len(words)))
	tensor("token_types.weight", width, 2)
	tensor("position_embd.weight", width, context)
	norm("token_embd_norm")
	for i := range layers {
		at := fmt.Sprintf("blk.%d.", i)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			tensor(at+name+".weight", width, width)
		}
		norm(at + "attn_output_norm")
		tensor(at+"ffn_up.weight", width, feed)
		tensor(at+"ffn_down.weight", feed, width)
		norm(at + "layer_output_norm")
	}
	var file bytes.Buffer
	put(&file, []byte("GGUF"), uint32(3), tensors, pairs, header.Bytes(), infos.Bytes())
	put(&file, make([]byte, (32-file.Len()%32)%32), data.Bytes())
	path := filepath.Join(t.TempDir(), "bert.gguf")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ask returns the body of any other answer.
func (p *process) ask(t *testing.T, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// A model for embeddings is opened for them unasked, and has no memory to clear.
func TestEncoder(t *testing.T) {
	for pooling, name := range map[uint32]string{1: "mean", 2: "cls"} {
		p := start(t, "-model", bert(t, pooling))
		if got := p.ask(t, "GET", "/props", ""); !strings.Contains(got, `"embeddings":{"dimensions":32,"pooling":"`+name+`"}`) || !strings.Contains(got, `"n_ctx":64,`) {
			t.Errorf("props: %s", got)
		}
		said := p.ask(t, "POST", "/tokenize", `{"prompt":[{"text":"the cats [SEP]"}]}`)
		if !strings.HasPrefix(said, `{"tokens":[2,5,6,10,1,1,1,3],`) { // [SEP] is three unknown words
			t.Errorf("tokens: %s", said)
		}
		texts := []string{"the cat sat", "the dog sat", "a mat", "the cats", "the cat sat"}
		all, status, body := p.embedded(t, texts...)
		if status != http.StatusOK || len(all) != len(texts) {
			t.Fatalf("got %d %s", status, body)
		}
		if likeness(all[0], all[4]) < 0.99999 || likeness(all[0], all[1]) > 0.999 {
			t.Errorf("likeness of the same %v, of others %v", likeness(all[0], all[4]), likeness(all[0], all[1]))
		}
		for i, text := range texts {
			if alone, _, body := p.embedded(t, text); len(alone) != 1 || likeness(alone[0], all[i]) < 0.9999 {
				t.Errorf("%q alone and in a batch: %s", text, body)
			}
		}
		if _, status, body := p.embedded(t, strings.Repeat("cat ", 62)); status != http.StatusOK {
			t.Errorf("as long as may be: %d %s", status, body)
		}
		if _, status, body := p.embedded(t, strings.Repeat("cat ", 63)); status != 400 || !strings.Contains(body, `"n_ctx":64,"prompt_tokens":65`) {
			t.Errorf("too long: %d %s", status, body)
		}
	}
}

func TestRankersAreRefused(t *testing.T) {
	if said := fails(t, "-model", bert(t, 4), "-lib", libDir()); !strings.Contains(said, "ranks documents") {
		t.Errorf("got %s", said)
	}
}
