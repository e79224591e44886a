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
		if x := float64(l - top); x > -negligible && x <= 0 { // so NaN is left out
			total += exp(x)
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

// parts is into how many parts exp divides the way from one power of two to the
// next.
const (
	partsBits = 6
	parts     = 1 << partsBits
)

// powers are 2 to the power of 0/parts, 1/parts and so on.
var powers = func() (t [parts]float64) {
	for i := range t {
		t[i] = math.Exp2(float64(i) / parts)
	}
	return t
}()

// exp is e to the power of x, from -negligible to 0, to nine digits. The sum over
// a vocabulary needs no more, and math.Exp takes several times as long.
func exp(x float64) float64 {
	n := int(x * (parts / math.Ln2))
	r := x - float64(n)*(math.Ln2/parts)
	return powers[n&(parts-1)] * (1 + r*(1+r*(0.5+r*(1.0/6)))) * math.Float64frombits(uint64((n>>partsBits)+1023)<<52)
}
