package sample

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var (
	inf = float32(math.Inf(1))
	nan = float32(math.NaN())
)

func TestGreedy(t *testing.T) {
	f := func(name string, p Params, want int32, logits ...float32) {
		t.Helper()
		if got := New(p, nil, nil).Pick(logits).ID; got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	f("highest", Params{}, 1, 0, 3, 2)
	f("the first of equals", Params{}, 1, 0, 3, 3)
	f("top_k 1", Params{Temperature: 1, TopK: 1, TopP: 1}, 2, 1, 2, 3)
	f("top_p 0", Params{Temperature: 1}, 2, 1, 2, 3)
	f("min_p 1", Params{Temperature: 1, MinP: 1, TopP: 1}, 0, 3, 2, 1)
	f("a tiny temperature", Params{Temperature: 1e-9, TopP: 1}, 1, 3, 3.1, 3)
	f("negative", Params{}, 1, -5, -3, -4)
	f("NaN and infinity are passed over", Params{}, 3, nan, inf, -inf, -9)
	f("NaN with temperature", Params{Temperature: 1, TopP: 1}, 3, nan, inf, -inf, -9)
	f("nothing finite", Params{Temperature: 1, TopP: 1}, -1, nan, inf, -inf)
	f("no logits", Params{}, -1)
}

// reference keeps by definition: temperature, min_p, top_k, top_p over a whole
// sorted vocabulary. It returns the ids and their share of the probability.
func reference(p Params, logits []float32) ([]int32, []float64) {
	ids := make([]int32, len(logits))
	top := slices.Max(logits)
	weight := make([]float64, len(logits))
	for i, l := range logits {
		ids[i], weight[i] = int32(i), math.Exp(float64(l-top)/p.Temperature)
	}
	slices.SortStableFunc(ids, func(a, b int32) int {
		return likelier(candidate{id: a, x: float64(logits[a])}, candidate{id: b, x: float64(logits[b])})
	})
	ids = slices.DeleteFunc(ids, func(id int32) bool { return weight[id] < p.MinP })
	if p.TopK > 0 {
		ids = ids[:min(p.TopK, len(ids))]
	}
	total := 0.0
	for _, id := range ids {
		total += weight[id]
	}
	mass, n := 0.0, 0
	for n < len(ids) && (n == 0 || mass < p.TopP*total) {
		mass += weight[ids[n]]
		n++
	}
	ids = ids[:n]
	share := make([]float64, n)
	for i, id := range ids {
		share[i] = weight[id] / mass
	}
	return ids, share
}

func randomLogits(r *rand.Rand, n int) []float32 {
	logits := make([]float32, n)
	for i := range logits {
		logits[i] = float32(r.NormFloat64() * 4)
	}
	return logits
}

func TestKeepsWhatTheDefinitionKeeps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 40, 300, 5000} {
		logits := randomLogits(r, n)
		for _, p := range []Params{
			{Temperature: 1, TopP: 1, MinP: 0.01},
			{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05},
			{Temperature: 1, TopP: 0.9},
			{Temperature: 3, TopP: 0.99},
			{Temperature: 0.1, TopP: 0.5},
			{Temperature: 2, TopP: 1, TopK: 2000},
			{Temperature: 1.5, TopK: 7, TopP: 0.7},
		} {
			s := New(p, nil, nil)
			s.keep(logits)
			var got []int32
			for _, c := range s.kept {
				got = append(got, c.id)
			}
			want, _ := reference(p, logits)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%d logits, %+v: kept %d tokens, want %d", n, p, len(got), len(want))
			}
		}
	}
}

func TestDrawsByProbability(t *testing.T) {
	logits := []float32{1, 2, 0.5, 2.5, -1, 0}
	for _, p := range []Params{
		{Temperature: 1, TopP: 1, Seed: 1}, {Temperature: 0.7, TopP: 0.9, Seed: 2}, {Temperature: 2, TopK: 3, TopP: 1, Seed: 3},
	} {
		const draws = 100_000
		count := make([]int, len(logits))
		s := New(p, nil, nil)
		for range draws {
			count[s.Pick(logits).ID]++
		}
		ids, share := reference(p, logits)
		total := 0
		for i, id := range ids {
			total += count[id]
			sigma := math.Sqrt(share[i] * (1 - share[i]) / draws)
			if got := float64(count[id]) / draws; math.Abs(got-share[i]) > 5*sigma {
				t.Errorf("%+v: token %d came with frequency %.4f, want %.4f", p, id, got, share[i])
			}
		}
		if total != draws {
			t.Errorf("%+v: %d draws fell on tokens that the filters drop", p, draws-total)
		}
	}
}

func TestSeed(t *testing.T) {
	logits := randomLogits(rand.New(rand.NewPCG(3, 4)), 1000)
	sequence := func(seed uint64) (ids []int32) {
		s := New(Params{Temperature: 1, TopP: 1, Seed: seed}, nil, nil)
		for range 50 {
			ids = append(ids, s.Pick(logits).ID)
		}
		return ids
	}
	if !slices.Equal(sequence(7), sequence(7)) {
		t.Error("the same seed gave different tokens")
	}
	if slices.Equal(sequence(7), sequence(8)) {
		t.Error("different seeds gave the same 50 tokens")
	}
}

func FuzzPick(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63, 0, 0, 0, 64}, 1.0, 0.9, 0.05, 2)
	f.Add([]byte{0, 0, 192, 127, 0, 0, 128, 255}, 1e-300, 0.0, 1.0, 0)
	f.Fuzz(func(t *testing.T, data []byte, temperature, topP, minP float64, topK int) {
		logits := make([]float32, len(data)/4)
		finite := false
		for i := range logits {
			logits[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			finite = finite || logits[i] > -math.MaxFloat32 && logits[i] <= math.MaxFloat32
		}
		if !(temperature >= 0 && topP >= 0 && topP <= 1 && minP >= 0 && minP <= 1 && topK >= 0) || math.IsInf(temperature, 0) {
			return
		}
		id := New(Params{Temperature: temperature, TopP: topP, MinP: minP, TopK: topK}, nil, nil).Pick(logits).ID
		if finite != (id >= 0) {
			t.Fatalf("picked %d from %v", id, logits)
		}
		if id >= 0 && !(logits[id] > -math.MaxFloat32 && logits[id] <= math.MaxFloat32) {
			t.Fatalf("picked the logit %v", logits[id])
		}
	})
}

// Logits as models give them: a few tokens are likely.
func peaked(n int) []float32 {
	logits := randomLogits(rand.New(rand.NewPCG(1, 1)), n)
	for i := range 20 {
		logits[n/40*i] = 20 - float32(i)/4
	}
	return logits
}

func BenchmarkPick(b *testing.B) {
	for _, size := range []int{49_152, 128_000} {
		logits := peaked(size)
		for name, p := range map[string]Params{
			"greedy":  {},
			"default": {Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05},
			"top_p":   {Temperature: 1, TopP: 0.9},
			"all":     {Temperature: 1, TopP: 1},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				s := New(p, nil, nil)
				for b.Loop() {
					s.Pick(logits)
				}
			})
		}
	}
}

func TestNextMissesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	special := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, nan, 1e-45, -1e-45, math.MaxFloat32, -math.MaxFloat32}
	for range 2000 {
		logits := randomLogits(r, r.IntN(40))
		for i := range logits {
			if r.IntN(4) == 0 {
				logits[i] = special[r.IntN(len(special))]
			}
		}
		floor := float32(r.NormFloat64() * 4)
		if r.IntN(2) == 0 {
			floor = special[r.IntN(len(special))]
		}
		var seen [40]bool
		for i := next(logits, 0, floor); i < len(logits); i = next(logits, i+step, floor) {
			for j := i; j < min(i+step, len(logits)); j++ {
				seen[j] = true
			}
		}
		for i, x := range logits {
			if x >= floor && !seen[i] {
				t.Fatalf("%v, at least %v: it passes over %d", logits, floor, i)
			}
		}
	}
}
