package stream

import (
	"context"
	"io"
	"time"

	"dragoman/adapters"
)

// abandonLimit is how long telling a backend to stop may take. The slot of the
// answer is held meanwhile.
const abandonLimit = 2 * time.Second

// abandon tells the backend that an incomplete answer is not wanted any more,
// where closing the connection does not do that. It does so also when the
// client's own context has ended.
func (s *Stream) abandon() {
	canceler, ok := s.decoder.(adapters.Canceler)
	over := s.atEOF && !s.followed // else the stream only shows an answer that goes on by itself
	if !ok || over || s.err == io.EOF && !s.pipe.stopped {
		return
	}
	call, ok := canceler.Cancel()
	if !ok {
		return
	}
	up := *s.up
	up.First = abandonLimit
	if _, err := Asker(&up)(context.WithoutCancel(s.ctx), call); err != nil {
		s.log().Debug("the backend was not told to stop", "upstream_model", s.req.Model, "cause", err)
	}
}
