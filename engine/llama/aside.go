package llama

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"dragoman/engine/gguf"
	"dragoman/engine/sched"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// aside implements sched.Aside by a context of its own: the weights are the
// model's, but for its threads and its memory it is another one.
type aside struct {
	m       *Model
	streams int // of the model's own context: its sequences
	ctx     llama.Context
	mem     llama.Memory
	batch   llama.Batch
	threads threads
	state   []byte // on its way
}

// Aside returns the memory in which a prompt can be read while Decode goes on, or
// nil: there is none on a GPU, on one thread, for one sequence, for models with
// windows or states, or where memory is short.
func (m *Model) Aside() sched.Aside {
	if m.aside == nil {
		return nil
	}
	return m.aside
}

// asides reports whether the model is to have such a memory if its layers are not
// on GPUs and there is room.
func (o *Options) asides(info *gguf.Info) bool {
	return o.Parallel > 1 && !o.embeds(info) && info.KeepsAll() && cmp.Or(o.Threads, cores()) > 1
}

// asideMemory estimates what it takes: its weights are the model's own.
func (o *Options) asideMemory(info *gguf.Info) gguf.Memory {
	u := o.use(info)
	u.Parallel, u.Batch = 1, sched.AsideTokens
	return info.Memory(u)
}

// openAside makes a context like the model's own, p, for one sequence of that many
// bytes. The model also works without.
func (m *Model) openAside(p llama.ContextParams, bytes uint64) {
	if m.window > 0 || llama.ModelIsRecurrent(m.model) || llama.ModelIsHybrid(m.model) {
		return // see header; the file may not have told
	}
	// Fresh memory, none of which is touched before it is needed: to get it later
	// would stop everything for as long as it takes to clear.
	a := &aside{m: m, streams: int(p.NSeqMax), state: make([]byte, 0, bytes+bytes/16)}
	p.NCtx, p.NSeqMax, p.NOutputsMax = uint32(m.context), 1, 1
	p.NBatch, p.NUbatch = sched.AsideTokens, sched.AsideTokens
	var err error
	if a.ctx, err = llama.InitFromModel(m.model, p); err == nil {
		a.mem, err = llama.GetMemory(a.ctx)
	}
	if err == nil {
		a.batch = makeBatch(sched.AsideTokens)
		a.threads.most = m.threads.most
		err = a.try()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "dragoman-engine: long prompts are not read beside answers: %v\n", logged.reason(err))
		a.close()
		return
	}
	m.aside = a
}

// try moves a token there and back.
func (a *aside) try() error {
	seq := a.streams - 1
	defer a.m.Trim(seq, 0)
	if err := a.Read(0, []int32{0}, true); err != nil {
		return err
	}
	last := llama.Pos(-1)
	if a.Pack() == nil && a.Finish(seq) && a.fetch(seq) {
		last, _ = llama.MemorySeqPosMax(a.mem, 0)
	}
	a.clear()
	if last != 0 {
		return errors.New("this model's memory cannot be moved")
	}
	return nil
}

// close frees the context; a may be nil.
func (a *aside) close() {
	if a == nil {
		return
	}
	if a.batch.Token != nil {
		llama.BatchFree(a.batch)
	}
	if a.ctx != 0 {
		llama.Free(a.ctx)
	}
	a.threads.close()
}

// part is how many threads read beside a step, which has the rest.
func (a *aside) part() int { return max(1, a.threads.most/3) }

// Part implements sched.Aside.
func (a *aside) Part() float64 { return float64(a.part()) / float64(a.threads.most) }

// Start implements sched.Aside. Where other programs want the processors there is
// none to spare.
func (a *aside) Start(seq int) bool { return !a.m.threads.crowd.full(a.m.threads.most) && a.begin(seq) }

func (a *aside) begin(seq int) bool {
	if !a.fetch(seq) {
		a.clear()
		return false
	}
	a.m.threads.lent = a.part()
	return true
}

// fetch makes a hold what a sequence holds.
func (a *aside) fetch(seq int) bool {
	a.clear()
	last, err := llama.MemorySeqPosMax(a.m.mem, llama.SeqId(seq))
	if err != nil || last < 0 {
		return err == nil
	}
	// The counts of the other sequences' cells, which are 0, stand before and after.
	state := a.copyState(a.m.ctx, seq, 0)
	from, to := counter*seq, len(state)-counter*(a.streams-seq-1)
	if to < from+header {
		return false
	}
	copy(state[from:], state[:header])
	binary.NativeEndian.PutUint32(state[from+header-counter:], 1)
	return restore(a.ctx, 0, state[from:to])
}

// Read implements sched.Aside.
func (a *aside) Read(pos int, tokens []int32, alone bool) error {
	n := len(tokens)
	if n > sched.AsideTokens {
		return fmt.Errorf("%d tokens aside, where %d fit", n, sched.AsideTokens)
	}
	for i, id := range tokens {
		unsafe.Slice(a.batch.Token, n)[i] = llama.Token(id)
		unsafe.Slice(a.batch.Pos, n)[i] = llama.Pos(pos + i)
		*unsafe.Slice(a.batch.SeqId, n)[i] = 0
		unsafe.Slice(a.batch.Logits, n)[i] = 0
	}
	a.batch.NTokens = int32(n)
	want := a.part()
	if alone {
		want = a.threads.most
	}
	if want != a.threads.now {
		a.threads.set(a.ctx, want)
	}
	return failure(llama.Decode(a.ctx, a.batch))
}

// Pack implements sched.Aside.
func (a *aside) Pack() error {
	state := a.copyState(a.ctx, 0, counter*(a.streams-1))
	if len(state) < header {
		return errors.New("llama.cpp does not tell what it has read")
	}
	binary.NativeEndian.PutUint32(state[header-counter:], uint32(a.streams))
	return nil
}

// Finish implements sched.Aside.
func (a *aside) Finish(seq int) bool {
	defer a.Drop()
	a.m.Trim(seq, 0)
	if !restore(a.m.ctx, seq, a.state) {
		a.m.Trim(seq, 0)
		return false
	}
	return true
}

// Drop implements sched.Aside.
func (a *aside) Drop() {
	a.m.threads.lent = 0
	a.clear()
}

func (a *aside) clear() { _, _ = llama.MemorySeqRm(a.mem, 0, -1, -1) } // of a whole sequence never fails

// What llama.cpp tells of a sequence begins with a mark, the sequence and the
// number of streams, which is the number of sequences, and has of each the number
// of cells and, if there are any, the cells. A context wants its own number of
// streams. With windows, and with states, there is more than one such list: those
// models do without.
const (
	counter = 4 // bytes of a number
	header  = 3 * counter
)

// copyState brings to a.state what a context remembers of a sequence, with some
// zeros behind it. It is empty if that is not to be had.
func (a *aside) copyState(ctx llama.Context, seq, zeros int) []byte {
	n := int(llama.StateSeqGetSize(ctx, llama.SeqId(seq)))
	a.state = slices.Grow(a.state[:0], n+zeros)[:n+zeros]
	clear(a.state[n:])
	if n == 0 || llama.StateSeqGetData(ctx, a.state[:n], llama.SeqId(seq)) != uint64(n) {
		a.state = a.state[:0]
	}
	return a.state
}

func restore(ctx llama.Context, seq int, state []byte) bool {
	return llama.StateSeqSetData(ctx, state, llama.SeqId(seq)) == uint64(len(state))
}
