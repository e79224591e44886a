package raw_test

import (
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/builtin"
)

func TestContract(t *testing.T) {
	all := builtin.All()
	adaptertest.Run(t, all["raw"], "testdata")
	for _, name := range []string{"raw-lines", "raw-ndjson", "raw-sse"} {
		adaptertest.Run(t, all[name], "testdata/"+name)
	}
}
