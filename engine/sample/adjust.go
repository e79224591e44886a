package sample

import "math"

// past are the tokens that penalties are about, each once.
type past struct {
	tokens []said
	at     map[int32]int // places in tokens
}

// said is a token of the prompt or the answer.
type said struct {
	id    int32
	times int     // in the answer
	logit float32 // before the penalties, while a token is picked
}

func (p *past) add(id int32, times int) {
	i, ok := p.at[id]
	if !ok {
		if p.at == nil {
			p.at = make(map[int32]int)
		}
		i = len(p.tokens)
		p.at[id] = i
		p.tokens = append(p.tokens, said{id: id})
	}
	p.tokens[i].times += times
}

func (s *Sampler) penalizes() bool {
	return s.p.Frequency != 0 || s.p.Presence != 0 || s.p.Repetition != 0 && s.p.Repetition != 1
}

// adjust changes the logits that penalties, biases and bans are about.
func (s *Sampler) adjust(logits []float32) {
	for i := range s.past.tokens {
		t := &s.past.tokens[i]
		if int(t.id) >= len(logits) {
			continue
		}
		t.logit = logits[t.id]
		logits[t.id] = float32(s.penalized(float64(t.logit), t.times))
	}
	s.before = s.before[:0]
	for _, b := range s.p.Bias {
		s.add(logits, b.ID, b.Add)
	}
	if s.picked < s.p.MinTokens {
		for _, id := range s.p.Ends {
			s.add(logits, id, math.Inf(-1))
		}
	}
}

// penalized is the logit x of a token that the answer has so many times. One
// that only the prompt has gets the repetition penalty alone.
func (s *Sampler) penalized(x float64, times int) float64 {
	if r := s.p.Repetition; r > 0 && x > 0 {
		x /= r
	} else if r > 0 {
		x *= r
	}
	if times > 0 {
		x -= s.p.Presence + float64(times)*s.p.Frequency
	}
	return x
}

// add adds x to a logit and remembers what that was. The same one may be added
// to twice.
func (s *Sampler) add(logits []float32, id int32, x float64) {
	if id < 0 || int(id) >= len(logits) {
		return
	}
	s.before = append(s.before, said{id: id, logit: logits[id]})
	logits[id] = float32(float64(logits[id]) + x)
}

// restore undoes adjust, the latest first.
func (s *Sampler) restore(logits []float32) {
	for i := len(s.before) - 1; i >= 0; i-- {
		logits[s.before[i].id] = s.before[i].logit
	}
	for _, t := range s.past.tokens {
		if int(t.id) < len(logits) {
			logits[t.id] = t.logit
		}
	}
}
