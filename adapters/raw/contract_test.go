package raw_test

import (
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/builtin"
)

func TestContract(t *testing.T) { adaptertest.Run(t, builtin.All()["raw"], "testdata") }
