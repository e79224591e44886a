package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var subjects = strings.Fields("dog cat bird fish tree boat king frog star horse girl boy mouse bear moon fox")

// chat makes a prompt of what a user says; the built-in model and SmolLM2 have
// the same template.
func chat(text string) string {
	return "<|im_start|>user\n" + text + "<|im_end|>\n<|im_start|>assistant\n"
}

// question differs from all others in its beginning, so that it is in no cache.
// Its likely answers are long.
func question(round, i int) string {
	a, b := subjects[i%len(subjects)], subjects[(i/len(subjects)+round+1)%len(subjects)]
	return fmt.Sprintf("The %s and the %s, story %d: Once upon a time", a, b, round)
}

// long is a text of about that many tokens, different for each seed.
func long(tokens int, seed uint64) string {
	words := strings.Fields(`the of and to in is was for that on with as he it by at from his an were are which this be or had
		also not their has one have its new after but who they two first been other when time year there into more all some city
		over would between only may these about world under many part system where can during later work most him up national
		then state people use through made such being known each while early several same year water school house line power`)
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range tokens {
		b.WriteString(" " + words[random.IntN(len(words))])
	}
	return b.String()
}
