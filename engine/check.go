package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"dragoman/engine/llama"
	"dragoman/engine/prompt"
	"dragoman/engine/sample"
	"dragoman/engine/sched"
)

// try starts a child that checks libraries of another version than the
// binding's: wrong ones crash, or seem to work and compute nonsense.
func try(ctx context.Context, o options, other *llama.VersionError) error {
	exe, err := os.Executable()
	if err != nil {
		return errors.Join(other, err)
	}
	out, err := exec.CommandContext(ctx, exe, "-check", "-lib", o.lib).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w; a trial with them failed (%w): %s", other, err, reason(out))
	}
	fmt.Fprintf(os.Stderr, "dragoman-engine: %v; a trial with them went well\n", other)
	return nil
}

// reason picks from a failed trial's output the line that says why: the
// engine's own, or the first, which in a crash comes before the stacks.
func reason(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines {
		if why, ok := strings.CutPrefix(line, "dragoman-engine: "); ok {
			return why
		}
	}
	return lines[0]
}

// check generates a story with the built-in model and reports whether it is
// one. The model was taught little else: what is wrong in the numbers of a
// computation soon shows in its words.
func check(ctx context.Context, o options) error {
	o.model, o.llama.Parallel, o.llama.Context, o.llama.Embeddings = builtin, 1, 0, false
	e, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer e.model.Close()
	text, err := e.story(ctx)
	if err != nil {
		return err
	}
	if !strings.Contains(text, "dog") {
		return fmt.Errorf("asked for a story about a dog, it wrote %q", text)
	}
	return nil
}

// story asks the built-in model for its best-known story, whole.
func (e *engine) story(ctx context.Context) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tokens, err := e.model.Tokenize([]prompt.Piece{
		{Text: "<s><|im_start|>user\n", Special: true},
		{Text: " Story about a dog."},
		{Text: "<|im_end|>\n<|im_start|>assistant\n", Special: true},
	})
	if err != nil {
		return "", err
	}
	st, err := e.sched.Submit(ctx, sched.Request{Prompt: tokens})
	if err != nil {
		return "", err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.sched.Run(ctx)
	}()
	var answer []sample.Token
	var result *sched.Result
	for result == nil {
		answer, result = st.Next(answer)
	}
	cancel()
	<-done
	if result.Err != nil {
		return "", result.Err
	}
	var text []byte
	for _, t := range answer {
		text = e.model.Piece(text, t.ID)
	}
	if result.Reason != sched.EndOfGeneration {
		return "", fmt.Errorf("a story did not end: %q", text)
	}
	return string(text), nil
}
