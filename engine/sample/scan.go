package sample

import (
	"math"
	"unsafe"
)

// step is how many logits next compares at once.
const step = 8

// next returns where, from i on, the first step of logits begins in which one
// may be at least floor, or len(logits). NaN may be, and the last few that do
// not fill a step. i is a multiple of step.
//
// Numbers are compared by their bits, as integers, of which a processor compares
// several at a time where it compares one floating-point number: positive ones
// have the same order, negative ones the opposite.
func next(logits []float32, i int, floor float32) int {
	end := len(logits) &^ (step - 1)
	if i >= end {
		return i
	}
	if floor > 0 {
		f := int32(math.Float32bits(floor))
		for steps := unsafe.Slice((*[step]int32)(unsafe.Pointer(&logits[i])), (end-i)/step); len(steps) > 0; steps = steps[1:] {
			if l := &steps[0]; l[0] >= f || l[1] >= f || l[2] >= f || l[3] >= f || l[4] >= f || l[5] >= f || l[6] >= f || l[7] >= f {
				return end - step*len(steps)
			}
		}
		return end
	}
	f := math.Float32bits(floor) | 1<<31 // 0 is -0
	for steps := unsafe.Slice((*[step]uint32)(unsafe.Pointer(&logits[i])), (end-i)/step); len(steps) > 0; steps = steps[1:] {
		if l := &steps[0]; l[0] <= f || l[1] <= f || l[2] <= f || l[3] <= f || l[4] <= f || l[5] <= f || l[6] <= f || l[7] <= f {
			return end - step*len(steps)
		}
	}
	return end
}
