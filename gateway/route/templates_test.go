package route

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// asked returns templates of one backend which answers by answer, and the asker.
func asked(ctx context.Context, answer func(ctx context.Context, ask adapters.Ask, model string) (adapters.Template, error)) (*templates, *asking) {
	a := &asking{dialect: newDialect(adapters.Traits{}), answer: answer}
	return &templates{ctx: ctx, templater: a}, a
}

func TestTemplateIsAskedOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		ts, a := asked(t.Context(), func(context.Context, adapters.Ask, string) (adapters.Template, error) {
			<-gate
			return brackets{}, nil
		})
		first, leave := context.WithCancel(t.Context())
		results := make(chan error, 10)
		get := func(ctx context.Context) {
			template, err := ts.get(ctx, nil, served{"http://h", "m"})
			if err == nil && template != (brackets{}) {
				err = fmt.Errorf("got %v", template)
			}
			results <- err
		}
		go get(first)
		synctest.Wait()
		for range 8 {
			go get(t.Context())
		}
		synctest.Wait()
		leave() // the one that began the question goes; the others still get their answer
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		close(gate)
		for range 8 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if n := a.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		if _, err := ts.get(t.Context(), nil, served{"http://h", "other"}); err != nil || a.asked.Load() != 2 {
			t.Errorf("another model: %v, asked %d times", err, a.asked.Load())
		}
		ts.drop("http://i")
		if _, err := ts.get(t.Context(), nil, served{"http://h", "m"}); err != nil || a.asked.Load() != 2 {
			t.Errorf("after another was lost: %v, asked %d times", err, a.asked.Load())
		}
		if _, err := ts.get(t.Context(), nil, served{"http://i", "m"}); err != nil || a.asked.Load() != 3 {
			t.Errorf("another server: %v, asked %d times", err, a.asked.Load())
		}
		ts.drop("http://h")
		if _, err := ts.get(t.Context(), nil, served{"http://h", "m"}); err != nil || a.asked.Load() != 4 {
			t.Errorf("after the backend was lost: %v, asked %d times", err, a.asked.Load())
		}
	})
}

func TestFailedQuestionIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := []error{errors.New("sep_style 99"), llm.Upstream(503, "", "busy"), nil}
		n := 0
		ts, _ := asked(t.Context(), func(context.Context, adapters.Ask, string) (adapters.Template, error) {
			n++
			return brackets{}, said[n-1]
		})
		_, err := ts.get(t.Context(), nil, served{"http://h", "m"})
		if e := asError(t, err); e.Status != 502 || !errors.Is(err, said[0]) {
			t.Errorf("got %+v", e)
		}
		synctest.Wait()
		_, err = ts.get(t.Context(), nil, served{"http://h", "m"})
		if e := asError(t, err); e.Status != 503 {
			t.Errorf("got %+v", e)
		}
		synctest.Wait()
		if _, err = ts.get(t.Context(), nil, served{"http://h", "m"}); err != nil {
			t.Error(err)
		}
	})
}

func TestQuestionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(ctx context.Context, _ adapters.Ask, _ string) (adapters.Template, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		ts, _ := asked(t.Context(), silent)
		start := time.Now()
		_, err := ts.get(t.Context(), nil, served{"http://h", "m"})
		if e := asError(t, err); e.Status != 504 || time.Since(start) != askTimeout {
			t.Errorf("got %+v after %v", e, time.Since(start))
		}
		closed, stop := context.WithCancel(t.Context())
		ts, _ = asked(closed, silent)
		stop()
		if _, err := ts.get(t.Context(), nil, served{"http://h", "m"}); err == nil {
			t.Error("a closed table gave a template")
		}
		ts.running.Wait()
	})
}

func TestTemplateCacheIsBounded(t *testing.T) {
	ts, _ := asked(t.Context(), func(context.Context, adapters.Ask, string) (adapters.Template, error) { return brackets{}, nil })
	for i := range 3 * maxTemplates {
		if _, err := ts.get(t.Context(), nil, served{"http://h", fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(ts.answers); n > maxTemplates {
		t.Errorf("%d templates are kept", n)
	}
}
