package gguf

import "slices"

// Type says how numbers are stored, as GGML numbers them.
type Type uint32

// layout is how a type packs numbers: bytes for each block of numbers.
type layout struct {
	name         string
	block, bytes uint64
}

// layouts are GGML's types. Numbers that are missing were withdrawn.
var layouts = map[Type]layout{
	0: {"f32", 1, 4}, 1: {"f16", 1, 2}, 30: {"bf16", 1, 2}, 28: {"f64", 1, 8},
	24: {"i8", 1, 1}, 25: {"i16", 1, 2}, 26: {"i32", 1, 4}, 27: {"i64", 1, 8},
	2: {"q4_0", 32, 18}, 3: {"q4_1", 32, 20}, 6: {"q5_0", 32, 22}, 7: {"q5_1", 32, 24},
	8: {"q8_0", 32, 34}, 9: {"q8_1", 32, 36}, 20: {"iq4_nl", 32, 18}, 39: {"mxfp4", 32, 17}, 40: {"nvfp4", 64, 36},
	10: {"q2_K", 256, 84}, 11: {"q3_K", 256, 110}, 12: {"q4_K", 256, 144}, 13: {"q5_K", 256, 176},
	14: {"q6_K", 256, 210}, 15: {"q8_K", 256, 292},
	16: {"iq2_xxs", 256, 66}, 17: {"iq2_xs", 256, 74}, 18: {"iq3_xxs", 256, 98}, 19: {"iq1_s", 256, 50},
	21: {"iq3_s", 256, 110}, 22: {"iq2_s", 256, 82}, 23: {"iq4_xs", 256, 136}, 29: {"iq1_m", 256, 56},
	34: {"tq1_0", 256, 54}, 35: {"tq2_0", 256, 66}, 41: {"q1_0", 128, 18}, 42: {"q2_0", 64, 18},
}

// CacheTypes are the names of the types that the memory of a context may have.
var CacheTypes = []string{"f16", "bf16", "f32", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"}

// CacheType returns the type of that name from CacheTypes; "" is f16.
func CacheType(name string) (Type, bool) {
	if name == "" {
		name = "f16"
	}
	if slices.Contains(CacheTypes, name) {
		for t, l := range layouts {
			if l.name == name {
				return t, true
			}
		}
	}
	return 0, false
}

// String returns GGML's name of the type, or "" if it has none.
func (t Type) String() string { return layouts[t].name }

// Quantized reports whether the type packs several numbers into a block.
func (t Type) Quantized() bool { return layouts[t].block > 1 }

// Bytes returns how much n numbers take, a started block counted whole.
func (t Type) Bytes(n uint64) uint64 {
	l := layouts[t]
	if l.block == 0 {
		return 0
	}
	return (n + l.block - 1) / l.block * l.bytes
}
