package llama

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"dragoman/engine/sched"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// Decode implements sched.Model.
func (m *Model) Decode(batch []sched.Item) error {
	n := len(batch)
	if n > m.maxBatch {
		return fmt.Errorf("a batch of %d tokens, where %d fit", n, m.maxBatch)
	}
	tokens, pos := unsafe.Slice(m.batch.Token, n), unsafe.Slice(m.batch.Pos, n)
	seqs, logits := unsafe.Slice(m.batch.SeqId, n), unsafe.Slice(m.batch.Logits, n)
	for i, it := range batch {
		tokens[i], pos[i], *seqs[i] = llama.Token(it.Token), llama.Pos(it.Pos), llama.SeqId(it.Seq)
		logits[i] = 0
		if it.Logits {
			logits[i] = 1
		}
	}
	return m.compute(n)
}

// compute reads the first n tokens of the batch.
func (m *Model) compute(n int) error {
	m.batch.NTokens = int32(n)
	m.threads.before(m.ctx, n)
	start := time.Now()
	if err := failure(llama.Decode(m.ctx, m.batch)); err != nil {
		return err
	}
	err := llama.Synchronize(m.ctx) // a GPU goes on after Decode
	m.threads.after(n, time.Since(start))
	return err
}

// failure makes an error of what llama.Decode returns.
func failure(code int32, err error) error {
	switch {
	case err != nil:
		return err
	case code == 1:
		return errors.New("llama.cpp found no room in its memory")
	case code != 0:
		return fmt.Errorf("llama.cpp failed with code %d", code)
	}
	return nil
}

// Logits implements sched.Model. The slice is llama.cpp's own memory.
func (m *Model) Logits(i int) ([]float32, error) {
	logits, err := llama.GetLogitsIth(m.ctx, int32(i), m.vocabSize)
	if err != nil {
		return nil, err
	}
	if logits == nil {
		return nil, errors.New("llama.cpp gave none")
	}
	for _, id := range m.suppress {
		logits[id] = float32(math.Inf(-1))
	}
	return logits, nil
}

// Trim implements sched.Model. Some models remember a state and not tokens, or
// only the latest tokens in some layers, and cannot go back.
func (m *Model) Trim(seq, n int) bool {
	id := llama.SeqId(seq)
	if n == 0 {
		// Removing a whole sequence never fails, says llama.h.
		_, err := llama.MemorySeqRm(m.mem, id, -1, -1)
		return err == nil
	}
	if ok, err := llama.MemorySeqRm(m.mem, id, llama.Pos(n), -1); err != nil || !ok {
		return false
	}
	first, err := llama.MemorySeqPosMin(m.mem, id)
	return err == nil && int(first) <= max(0, n-m.window)
}

// Copy implements sched.Model. llama.cpp does it with the next Decode.
func (m *Model) Copy(from, to int) bool {
	return llama.MemorySeqCp(m.mem, llama.SeqId(from), llama.SeqId(to), -1, -1) == nil
}

// Ends implements sched.Model.
func (m *Model) Ends() []int32 { return slices.Clone(m.ends) }
