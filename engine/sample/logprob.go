package sample

import "math"

// Ranked is a token with its log-probability.
type Ranked struct {
	ID      int32
	Logprob float64
}

// logprobs returns the log-probability of id and the k likeliest tokens, out of
// what the model says by itself: before temperature, penalties and filters.
// Tokens without a finite logit are never among the likeliest.
func logprobs(logits []float32, id int32, k int) (float64, []Ranked) {
	_, top := argmax(logits)
	total := 0.0
	for _, l := range logits {
		if x := float64(l - top); x > -negligible && x <= 0 {
			total += math.Exp(x)
		}
	}
	norm := float64(top) + math.Log(total)
	best := likeliest(logits, k)
	ranked := make([]Ranked, len(best))
	for i, c := range best {
		ranked[i] = Ranked{ID: c.id, Logprob: c.x - norm}
	}
	return float64(logits[id]) - norm, ranked
}

// likeliest returns the k highest finite logits in order, in one pass: nearly
// all of a large vocabulary is below the least of the k found so far.
func likeliest(logits []float32, k int) []candidate {
	if k <= 0 {
		return nil
	}
	best := make([]candidate, 0, k)
	least := float32(math.Inf(-1))
	for i, l := range logits {
		if !(l > least) || l > math.MaxFloat32 {
			continue
		}
		at := len(best)
		for at > 0 && best[at-1].x < float64(l) {
			at--
		}
		if len(best) < k {
			best = append(best, candidate{})
		}
		copy(best[at+1:], best[at:])
		best[at] = candidate{id: int32(i), x: float64(l)}
		if len(best) == k {
			least = float32(best[k-1].x)
		}
	}
	return best
}
