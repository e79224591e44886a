package stream

import (
	"context"
	"io"
	"net/http"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

const maxAnswer = 1 << 20

// Asker returns the function that asks the backend for something other than an
// answer. Each call has the time limit of up.First.
func Asker(up *Upstream) adapters.Ask {
	return func(ctx context.Context, call adapters.Call) ([]byte, error) {
		return up.ask(ctx, call, maxAnswer)
	}
}

// ask makes one call, and returns its answer of at most so many bytes.
func (up *Upstream) ask(ctx context.Context, call adapters.Call, most int) ([]byte, error) {
	s := &Stream{up: up, traits: &adapters.Traits{}} // a question is no request of a client
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	defer s.cancel(nil)
	s.watch = newWatch(s.cancel, up.First, 0)
	defer s.watch.stop()
	resp, err := s.send(call)
	if err != nil {
		return nil, err
	}
	return s.readAnswer(resp, most)
}

// readAnswer reads an answer that is no stream, and closes it.
func (s *Stream) readAnswer(resp *http.Response, most int) ([]byte, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
	if err != nil {
		return nil, s.readError(err)
	}
	if len(body) > most {
		return nil, llm.Upstream(http.StatusBadGateway, "", "The backend's answer is longer than %d bytes.", most)
	}
	return body, nil
}
