package adapters

import (
	"math"
	"testing"
)

// Whatever an answer holds, it is an error or finite numbers.
func FuzzReadOpenAIEmbeddings(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":1,"embedding":[0.5,-1e-3]},{"index":0,"embedding":"AACAPwAAAL8="}],"usage":{"prompt_tokens":5}}`))
	f.Add([]byte(`{"data":[{"embedding":[1e39]}],"error":{"message":"x"}}`))
	f.Add([]byte(`{"data":[{"embedding":"AADAfw=="},{"embedding":[null]},{"embedding":[[1]]}]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		made, err := ReadOpenAIEmbeddings(answer)
		if err != nil {
			return
		}
		for _, v := range made.Vectors {
			for _, x := range v {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					t.Errorf("%q gives %v", answer, v)
				}
			}
		}
	})
}
