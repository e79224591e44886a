package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// picks returns the ids of n picks from the same logits, and checks that those
// are left as they were.
func picks(t *testing.T, s *Sampler, n int, logits ...float32) (ids []int32) {
	t.Helper()
	before := slices.Clone(logits)
	for range n {
		ids = append(ids, s.Pick(logits).ID)
	}
	if !slices.Equal(logits, before) {
		t.Errorf("the logits are %v, were %v", logits, before)
	}
	return ids
}

func TestPenalties(t *testing.T) {
	f := func(name string, p Params, prompt, want []int32, logits ...float32) {
		t.Helper()
		if got := picks(t, New(p, prompt, nil), len(want), logits...); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	f("frequency counts the answer's tokens", Params{Frequency: 1}, []int32{0, 0, 0}, []int32{0, 0, 0, 1, 0, 1}, 5, 2.5, 0)
	f("presence is taken off once", Params{Presence: 2}, []int32{0}, []int32{0, 1, 0, 0}, 5, 4, 0)
	f("a negative presence makes it stay", Params{Presence: -2}, nil, []int32{0, 0, 0}, 5, 4.9, 0)
	f("repetition counts the prompt too", Params{Repetition: 2}, []int32{0}, []int32{1, 0, 0}, 5, 3, 0)
	f("and makes negative logits lower", Params{Repetition: 2}, []int32{0}, []int32{1, 0, 0}, -1, -1.5, -9)
	f("in the prompt alone there is no presence", Params{Repetition: 1.1, Presence: 2}, []int32{0}, []int32{0}, 5, 4, 0)
	f("a token beyond the vocabulary", Params{Repetition: 2}, []int32{7}, []int32{0}, 5, 4, 0)
	f("bias", Params{Bias: []Bias{{1, 3}, {2, -9}, {-1, 5}, {99, 5}}}, nil, []int32{1, 1}, 5, 4, 6)
	f("a ban", Params{Bias: []Bias{{0, math.Inf(-1)}}}, nil, []int32{1, 1}, 5, 4, 0)
	f("all are banned", Params{Bias: []Bias{{0, math.Inf(-1)}, {1, math.Inf(-1)}}}, nil, []int32{-1}, 5, 4)
	f("min_tokens", Params{MinTokens: 2, Ends: []int32{0, 2}}, nil, []int32{1, 1, 0}, 5, 3, 4)
	f("min_tokens with a bias for the end", Params{MinTokens: 1, Ends: []int32{0}, Bias: []Bias{{0, 100}}}, nil, []int32{1, 0}, 5, 4)
	f("bias and penalty on one token", Params{Frequency: 1, Bias: []Bias{{0, 2}}}, nil, []int32{0, 0, 0, 1}, 5, 4.5)
}

func TestLogprobsAreTheModelsOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	logits := randomLogits(r, 3000)
	logits[7], logits[8] = nan, -inf
	total := 0.0
	for i, l := range logits {
		if i != 7 {
			total += math.Exp(float64(l))
		}
	}
	for _, k := range []int{0, 1, 20} {
		s := New(Params{Temperature: 2, TopP: 1, Presence: 1, Bias: []Bias{{3, 50}}, Logprobs: true, Top: k}, nil, nil)
		got := s.Pick(logits)
		if want := float64(logits[3]) - math.Log(total); got.ID != 3 || math.Abs(got.Logprob-want) > 1e-5 {
			t.Errorf("got %d with %v, want 3 with %v", got.ID, got.Logprob, want)
		}
		var order []int32
		for i := range logits {
			if i != 7 {
				order = append(order, int32(i))
			}
		}
		slices.SortStableFunc(order, func(a, b int32) int {
			return likelier(candidate{id: a, x: float64(logits[a])}, candidate{id: b, x: float64(logits[b])})
		})
		if len(got.Top) != k {
			t.Fatalf("%d of %d likeliest tokens", len(got.Top), k)
		}
		for i, ranked := range got.Top {
			if want := float64(logits[order[i]]) - math.Log(total); ranked.ID != order[i] || math.Abs(ranked.Logprob-want) > 1e-5 {
				t.Errorf("place %d of %d: got %+v, want %d with %v", i, k, ranked, order[i], want)
			}
		}
	}
	if got := New(Params{Logprobs: true, Top: 5}, nil, nil).Pick([]float32{1, -inf, 1, nan}); len(got.Top) != 2 || got.Top[0].ID != 0 ||
		math.Abs(got.Logprob-math.Log(0.5)) > 1e-9 {
		t.Errorf("of two equal tokens and none else: %+v", got)
	}
}

func TestExp(t *testing.T) {
	for x := -float64(negligible); x <= 0; x += 0.00037 {
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 1e-7*want {
			t.Fatalf("exp(%g) is %g, want %g", x, got, want)
		}
	}
	if exp(0) != 1 {
		t.Errorf("exp(0) is %g", exp(0))
	}
}

// odd lets through odd ids.
type odd struct{ accepted []int32 }

func (o *odd) Allows(id int32) bool { return id%2 == 1 }

func (o *odd) Keep(dst, logits []float32) {
	for i, l := range logits {
		if dst[i] = l; i%2 == 0 {
			dst[i] = -inf
		}
	}
}

func (o *odd) Accept(id int32) { o.accepted = append(o.accepted, id) }

func (o *odd) Done() bool { return false }

func (o *odd) Err() error { return nil }

func TestFilter(t *testing.T) {
	f := &odd{}
	if got := picks(t, New(Params{Frequency: 1}, nil, f), 3, 9, 3, 9, 2.5); !slices.Equal(got, []int32{1, 3, 1}) || !slices.Equal(f.accepted, got) {
		t.Errorf("picked %v, accepted %v", got, f.accepted)
	}
	if got := New(Params{}, nil, &odd{}).Pick([]float32{1, -inf, 2}); got.ID != -1 {
		t.Errorf("nothing may come: got %d", got.ID)
	}
}

// What a filter lets through comes as often as if nothing else had ever been
// possible.
func TestFilterKeepsTheShares(t *testing.T) {
	logits := []float32{2, 1, 2.5, 0, 1, -1}
	const draws = 100_000
	count := make([]int, len(logits))
	s := New(Params{Temperature: 1, TopP: 1, Seed: 9}, nil, &odd{})
	for range draws {
		count[s.Pick(logits).ID]++
	}
	total := 0.0
	for i := 1; i < len(logits); i += 2 {
		total += math.Exp(float64(logits[i]))
	}
	for i, n := range count {
		share := 0.0
		if i%2 == 1 {
			share = math.Exp(float64(logits[i])) / total
		}
		if sigma := math.Sqrt(share * (1 - share) / draws); math.Abs(float64(n)/draws-share) > 5*sigma {
			t.Errorf("token %d came %d times of %d, want a share of %.4f", i, n, draws, share)
		}
	}
}

func BenchmarkLogprobs(b *testing.B) {
	logits := randomLogits(rand.New(rand.NewPCG(1, 1)), 128_000)
	s := New(Params{Logprobs: true, Top: 20}, nil, nil)
	for b.Loop() {
		s.Pick(logits)
	}
}
