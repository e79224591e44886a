package stream

import (
	"errors"
	"net/http"
	"slices"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// sign has the request of call signed, if the backend wants that. From then on,
// messages are without what is secret of it. Other hosts get no signatures.
func (s *Stream) sign(req *http.Request, call adapters.Call) error {
	if s.up.Sign == nil || call.URL != "" && !sameHost(call.URL, s.up.URL) {
		return nil
	}
	secrets, err := s.up.Sign(req, call.Body)
	if s.ctx.Err() != nil {
		return s.readError(err)
	}
	if err != nil {
		e := llm.Upstream(http.StatusBadGateway, "upstream_auth", "The gateway has no credentials for the backend.")
		e.Err = errors.New(s.up.clean(err.Error()))
		return e
	}
	own := *s.up
	own.Secrets = append(slices.Clip(own.Secrets), secrets...)
	s.up = &own
	return nil
}
