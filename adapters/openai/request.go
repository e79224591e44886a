package openai

import (
	"errors"
	"strconv"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Request implements adapters.Adapter. It copies req.Raw member by member and
// replaces the values that the gateway decides.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	path := "/v1/chat/completions"
	if req.Kind == llm.Completion {
		path = "/v1/completions"
	}
	return post(req, path, req.Stream)
}

// post returns the call to path. askUsage says whether a stream's counts have
// to be asked for.
func post(req *llm.Request, path string, askUsage bool) (adapters.Call, error) {
	if req.Raw == nil {
		return adapters.Call{}, errors.New("an OpenAI-like backend needs the request as the client sent it")
	}
	var s adapters.Object
	s.Grow(len(req.Raw) + 128)
	limit := limitMember(req)
	for _, m := range req.Members {
		if value := decided(req, m, limit); value != nil {
			s.Set(m.Name, value)
		}
	}
	if limit == "" && req.MaxTokens > 0 {
		s.Set("max_tokens", strconv.AppendInt(nil, req.MaxTokens, 10))
	}
	s.Set("stream", strconv.AppendBool(nil, req.Stream))
	if askUsage {
		s.Set("stream_options", streamOptions(req))
	}
	return adapters.PostJSON(path, s.JSON()), nil
}

// decided returns what is sent for the client's member m: usually what the
// client sent; nil for what is left out or written elsewhere.
func decided(req *llm.Request, m llm.Member, limit string) []byte {
	value := req.Raw[m.Start:m.End]
	switch m.Name {
	case "stream", "stream_options", "echo": // the gateway echoes by itself
		return nil
	case "model":
		return adapters.AppendString(nil, req.Model)
	case "stop":
		// Some backends take "stop":[] for "none of your own either".
		if len(req.Stop) == 0 {
			return nil
		}
	case "max_tokens", "max_completion_tokens":
		if req.MaxTokens == llm.NoLimit || adapters.IsNull(value) {
			return nil
		}
		if m.Name == limit && req.MaxTokens > 0 && !says(value, req.MaxTokens) {
			return strconv.AppendInt(nil, req.MaxTokens, 10)
		}
	case "prompt":
		if value[0] != '"' {
			return adapters.AppendString(nil, req.Prompt.Text())
		}
	}
	return value
}

// limitMember returns the name of the member that bounds the answer, as
// max_completion_tokens wins over max_tokens; "" if there is none.
func limitMember(req *llm.Request) string {
	found := ""
	for _, m := range req.Members {
		if adapters.IsNull(req.Raw[m.Start:m.End]) {
			continue
		}
		if m.Name == "max_completion_tokens" || m.Name == "max_tokens" && found == "" {
			found = m.Name
		}
	}
	return found
}

// streamOptions is what the client sent, with usage switched on.
func streamOptions(req *llm.Request) []byte {
	var s adapters.Object
	for _, m := range req.Members {
		if m.Name != "stream_options" {
			continue
		}
		for name, value := range jsonscan.All(req.Raw[m.Start:m.End]) {
			if string(name) != "include_usage" {
				s.Set(string(name), value)
			}
		}
	}
	s.Set("include_usage", []byte("true"))
	return s.JSON()
}

// says reports whether value is the number n, however it is spelled.
func says(value []byte, n int64) bool {
	f, err := strconv.ParseFloat(string(value), 64)
	return err == nil && f == float64(n)
}
