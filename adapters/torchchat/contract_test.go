package torchchat_test

import (
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/builtin"
)

func TestContract(t *testing.T) {
	all := builtin.All()
	adaptertest.Run(t, all["torchchat"], "testdata/sse")
	adaptertest.Run(t, all["torchchat-json"], "testdata/json")
	adaptertest.Run(t, all["torchchat-raw"], "testdata/raw")
}
