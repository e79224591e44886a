package raw_test

import (
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/builtin"
)

func TestContract(t *testing.T) {
	all := builtin.All()
	adaptertest.Run(t, all["raw"], "testdata")
	adaptertest.Run(t, all["raw-lines"], "testdata/lines")
	adaptertest.Run(t, all["raw-ndjson"], "testdata/ndjson")
	adaptertest.Run(t, all["raw-sse"], "testdata/sse")
}
