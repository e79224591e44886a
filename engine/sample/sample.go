// Package sample picks the next token from a model's logits: greedily, or at
// random after temperature, top-k, top-p and min-p, in that order, as the
// Hugging Face transformers library does it. Before that come penalties for
// what was said already, biases and bans; they touch only the tokens they are
// about. It never sorts a whole vocabulary.
//
// It knows nothing of models, requests or stop rules; package sched drives it.
package sample

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Params says how to sample. The zero value is greedy.
type Params struct {
	Temperature float64 // 0 takes the most likely token and ignores the rest
	TopK        int     // keep only the K most likely; 0 keeps all
	TopP        float64 // keep the fewest that hold this share of probability; 1 keeps all, 0 one
	MinP        float64 // drop what is less likely than MinP times the most likely; 0 drops none
	Seed        uint64  // equal seeds give equal choices for equal logits

	Frequency  float64 // taken off a token's logit for each time it was picked
	Presence   float64 // taken off once if it was picked
	Repetition float64 // divides the positive and multiplies the other logits of tokens in the prompt or picked; 0 and 1 do nothing
	Bias       []Bias

	MinTokens int     // as many tokens are picked before one of Ends may be
	Ends      []int32 // what ends the answer

	Logprobs bool // picked tokens come with their log-probability
	Top      int  // and with as many of the likeliest tokens
}

// Bias adds to the logit of a token; minus infinity bans it.
type Bias struct {
	ID  int32
	Add float64
}

// Token is a picked token. Logprob and Top are set if the Params ask for them.
type Token struct {
	ID      int32
	Logprob float64
	Top     []Ranked // the likeliest first
}

// Filter says which tokens may come next.
type Filter interface {
	// Allows reports whether id may come next.
	Allows(id int32) bool
	// Keep copies to dst the logits of all tokens that may come next, and makes
	// the others minus infinity. Both have the length of the vocabulary.
	Keep(dst, logits []float32)
	// Accept tells the filter what came.
	Accept(id int32)
	// Done reports whether the answer is whole and nothing can come any more.
	Done() bool
	// Err returns why nothing may come, if that is the filter's own fault.
	Err() error
}

// Sampler picks the tokens of one request. It is not safe for concurrent use.
type Sampler struct {
	p      Params
	rng    *rand.Rand
	kept   []candidate // scratch, reused from token to token
	filter Filter      // nil: all tokens may come
	masked []float32   // scratch: logits that the filter kept
	past   past
	before []said // scratch: logits that biases and bans changed
	picked int
}

// candidate is a token that may still be picked, with its scaled logit.
type candidate struct {
	id int32
	x  float64 // (logit - highest logit) / temperature: 0 for the most likely
	w  float64 // e^x
}

// New returns a sampler for the answer to prompt. A nil filter lets all tokens
// through.
func New(p Params, prompt []int32, f Filter) *Sampler {
	s := &Sampler{p: p, rng: rand.New(rand.NewPCG(p.Seed, 0x9e3779b97f4a7c15)), filter: f}
	if p.Repetition != 0 && p.Repetition != 1 {
		for _, id := range prompt {
			s.past.add(id, 0)
		}
	}
	return s
}

// Pick picks the next token and takes it as said. Its ID is -1 if no token that
// may come has a finite logit; NaN counts as minus infinity. Logits are changed
// while it runs, and are as before when it returns.
//
// It uses one random number, none if it is greedy, and another one if the
// filter refuses its first choice. A second choice among what the filter keeps
// makes each token as likely as if there had been no first.
func (s *Sampler) Pick(logits []float32) Token {
	s.adjust(logits)
	t := Token{ID: s.pick(logits)}
	if t.ID >= 0 && s.filter != nil && !s.filter.Allows(t.ID) {
		if s.masked == nil {
			s.masked = make([]float32, len(logits))
		}
		s.filter.Keep(s.masked, logits)
		t.ID = s.pick(s.masked)
	}
	s.restore(logits)
	if t.ID < 0 {
		return t
	}
	if s.p.Logprobs {
		t.Logprob, t.Top = logprobs(logits, t.ID, s.p.Top)
	}
	s.picked++
	if s.penalizes() {
		s.past.add(t.ID, 1)
	}
	if s.filter != nil {
		s.filter.Accept(t.ID)
	}
	return t
}

// pick returns the token that follows, or -1 if no logit is a finite number.
func (s *Sampler) pick(logits []float32) int32 {
	if s.p.Temperature <= 0 || s.p.TopK == 1 {
		best, _ := argmax(logits)
		return best
	}
	if s.keep(logits); len(s.kept) == 0 {
		return -1
	}
	return s.draw()
}

// argmax returns the first of the highest finite logits, and its value.
func argmax(logits []float32) (int32, float32) {
	best, top := int32(-1), float32(math.Inf(-1))
	for i := next(logits, 0, top); i < len(logits); i = next(logits, i+step, top) {
		for j, x := range logits[i:min(i+step, len(logits))] {
			if x > top && x <= math.MaxFloat32 {
				best, top = int32(i+j), x
			}
		}
	}
	return best, top
}

// negligible is how far below the top, in units of temperature, a token stops
// to matter: e^-40 times any vocabulary is lost in float64's rounding.
const negligible = 40

// keep fills s.kept with the tokens that pass every filter, the likeliest
// first whenever a filter needed an order. It goes over the logits once: what is
// too far below the highest so far cannot matter, which is nearly all of a
// large vocabulary.
func (s *Sampler) keep(logits []float32) {
	limit := -float64(negligible)
	if s.p.MinP > 0 {
		limit = max(limit, math.Log(s.p.MinP))
	}
	floor := func(top float32) float32 {
		slack := 1e-5 * (1 + math.Abs(float64(top)))
		return float32(max(float64(top)+limit*s.p.Temperature-slack, -math.MaxFloat32))
	}
	top := float32(math.Inf(-1))
	for i := 0; i < len(logits); i += 64 { // some of them, for a floor to begin with
		if x := logits[i]; x > top && x <= math.MaxFloat32 {
			top = x
		}
	}
	least := floor(top)
	s.kept = s.kept[:0]
	for i := next(logits, 0, least); i < len(logits); i = next(logits, i+step, least) {
		for j, x := range logits[i:min(i+step, len(logits))] {
			if !(x >= least) || x > math.MaxFloat32 {
				continue
			}
			if x > top {
				top, least = x, floor(x)
			}
			s.kept = append(s.kept, candidate{id: int32(i + j), x: float64(x)})
		}
	}
	left := s.kept[:0]
	for _, c := range s.kept {
		if c.x = float64(float32(c.x)-top) / s.p.Temperature; c.x >= limit {
			left = append(left, c)
		}
	}
	s.kept = left
	if k := s.p.TopK; k > 0 && k < len(s.kept) {
		s.kept = largest(s.kept, k)
	}
	for i := range s.kept {
		s.kept[i].w = math.Exp(s.kept[i].x)
	}
	if s.p.TopP < 1 {
		s.kept = nucleus(s.kept, s.p.TopP)
	}
}

// likelier orders candidates: the likeliest first, equals by id, so that the
// outcome never depends on the order in which they were found.
func likelier(a, b candidate) int {
	if c := cmp.Compare(b.x, a.x); c != 0 {
		return c
	}
	return cmp.Compare(a.id, b.id)
}

// largest moves the k likeliest of c to its head, in order, and returns them:
// one pass with a sorted head, into which few of many tokens ever move.
func largest(c []candidate, k int) []candidate {
	if k > 1024 { // moving within so long a head costs more than a sort
		slices.SortFunc(c, likelier)
		return c[:k]
	}
	head := c[:k]
	slices.SortFunc(head, likelier)
	for i := k; i < len(c); i++ {
		x, last := c[i], head[k-1]
		if likelier(x, last) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(head, x, likelier)
		copy(head[at+1:], head[at:])
		head[at], c[i] = x, last
	}
	return head
}

// nucleus returns the likeliest of c, as few as hold the share p of the
// probability of all of c, at least one. It sorts only a growing top part: a
// nucleus is small, also where the vocabulary is not.
func nucleus(c []candidate, p float64) []candidate {
	total := 0.0
	for _, x := range c {
		total += x.w
	}
	for k := min(64, len(c)); ; k = min(k*4, len(c)) {
		mass := 0.0
		for i, x := range largest(c, k) {
			if mass += x.w; mass >= p*total {
				return c[:i+1]
			}
		}
		if k == len(c) {
			return c
		}
	}
}

// draw picks one of s.kept by its probability.
func (s *Sampler) draw() int32 {
	total := 0.0
	for _, c := range s.kept {
		total += c.w
	}
	u := s.rng.Float64() * total
	for _, c := range s.kept {
		if u -= c.w; u < 0 {
			return c.id
		}
	}
	return s.kept[len(s.kept)-1].id // rounding left a crumb
}
