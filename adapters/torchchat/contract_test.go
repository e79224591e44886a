package torchchat_test

import (
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/builtin"
)

func TestContract(t *testing.T) {
	all := builtin.All()
	for _, name := range []string{"torchchat", "torchchat-json", "torchchat-raw"} {
		adaptertest.Run(t, all[name], "testdata/"+name)
	}
}
