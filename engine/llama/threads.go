package llama

import (
	"runtime"
	"time"
	"unsafe"

	"dragoman/engine/crew"

	"github.com/hybridgroup/yzma/pkg/llama"
	"github.com/hybridgroup/yzma/pkg/loader"
	"github.com/jupiterrider/ffi"
)

// tinyModel is the size in bytes up to which a second thread is more likely to
// cost in waiting than to compute.
const tinyModel = 64 << 20

// cores returns how many threads can compute without sharing a core.
func cores() int { return min(physicalCores(), runtime.GOMAXPROCS(0)) }

// threads sees to it that each step is computed by as many threads as are
// best just then. llama.cpp by itself starts its threads anew for each step;
// they are kept in pools here, one for each number.
type threads struct {
	// One for steps that mostly answer and one for those that read: the larger
	// the batch the more there is to share. Both are nil if the number is fixed.
	answer, read *crew.Crew
	most         int // threads, if none are lent
	lent         int // that compute something else, see aside
	crowd        crowd
	now          int // threads of the latest step
	pools        map[int]uintptr
}

// reading is how many tokens a step has that counts as reading.
const reading = 32

// choose makes the number one that follows the measurements. It begins with
// all cores, unless the model file, of that many bytes, is tiny.
func (t *threads) choose(ctx llama.Context, size int64) {
	start := cores()
	t.most = start
	t.read = crew.New(start, cores(), t.crowd.full)
	if size <= tinyModel {
		start = 1
	}
	t.crowd.full(start) // looks around before there is anything to do
	t.answer = crew.New(start, cores(), t.crowd.full)
	t.set(ctx, start)
}

func (t *threads) crew(tokens int) *crew.Crew {
	if tokens < reading {
		return t.answer
	}
	return t.read
}

// before sets the number for a step of so many tokens.
func (t *threads) before(ctx llama.Context, tokens int) {
	n := t.most
	if c := t.crew(tokens); c != nil {
		n = c.Threads()
	}
	if t.lent > 0 {
		n = min(n, max(1, t.most-t.lent))
	}
	if n != t.now {
		t.set(ctx, n)
	}
}

// after tells how long the step took.
func (t *threads) after(tokens int, took time.Duration) {
	if c := t.crew(tokens); c != nil && t.lent == 0 { // fewer are nobody's choice
		c.Took(tokens, took)
	}
}

// set makes n threads compute from now on.
func (t *threads) set(ctx llama.Context, n int) {
	t.now = n
	llama.SetNThreads(ctx, int32(n), int32(n))
	switch {
	case poolNew.Addr == 0:
	case n == 1:
		llama.DetachThreadpool(ctx)
	default:
		if t.pools[n] == 0 {
			if t.pools == nil {
				t.pools = make(map[int]uintptr)
			}
			t.pools[n] = newPool(n)
		}
		llama.AttachThreadpool(ctx, t.pools[n], t.pools[n])
	}
}

// close stops all threads. The context must be gone.
func (t *threads) close() {
	for _, p := range t.pools {
		poolFree.Call(nil, unsafe.Pointer(&p))
	}
	t.pools = nil
}

// poolParams is ggml_threadpool_params.
type poolParams struct {
	cpus   [512]bool
	n      int32
	prio   int32
	poll   uint32
	strict bool
	paused bool
}

// poll is how long threads spin after a step before they sleep, in ggml's unit
// of a few milliseconds: over the pause between two steps of an answer, but
// not, like ggml's 50, long after its end.
const poll = 1

var poolInit, poolNew, poolFree ffi.Fun

// newPool starts n-1 threads, which wait.
func newPool(n int) (pool uintptr) {
	var params poolParams
	p, count := unsafe.Pointer(&params), int32(n)
	poolInit.Call(nil, unsafe.Pointer(&p), unsafe.Pointer(&count))
	params.poll = poll
	poolNew.Call(unsafe.Pointer(&pool), unsafe.Pointer(&p))
	return pool
}

// preparePools binds the functions for pools. They are in the library for this
// processor that ggml has picked. Without them threads are started anew for
// each step.
func preparePools(dir string) {
	base, err := loader.LoadLibrary(dir, "ggml-base")
	if err != nil {
		return
	}
	// Bound as functions of that signature; the addresses are found below.
	bind := func(ret *ffi.Type, args ...*ffi.Type) (f ffi.Fun) {
		if err == nil {
			f, err = base.Prep("ggml_backend_reg_get_proc_address", ret, args...)
		}
		return f
	}
	find := bind(&ffi.TypePointer, &ffi.TypePointer, &ffi.TypePointer)
	create, destroy := bind(&ffi.TypePointer, &ffi.TypePointer), bind(&ffi.TypeVoid, &ffi.TypePointer)
	if err == nil {
		poolInit, err = base.Prep("ggml_threadpool_params_init", &ffi.TypeVoid, &ffi.TypePointer, &ffi.TypeSint32)
	}
	reg := llama.GGMLBackendRegByName("CPU")
	if err != nil || reg == 0 {
		return
	}
	address := func(name string) (addr uintptr) {
		text := append([]byte(name), 0)
		p := unsafe.Pointer(&text[0])
		find.Call(unsafe.Pointer(&addr), unsafe.Pointer(&reg), unsafe.Pointer(&p))
		runtime.KeepAlive(text)
		return addr
	}
	create.Addr, destroy.Addr = address("ggml_threadpool_new"), address("ggml_threadpool_free")
	if create.Addr != 0 && destroy.Addr != 0 {
		poolNew, poolFree = create, destroy
	}
}
