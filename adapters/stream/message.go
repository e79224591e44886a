package stream

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"dragoman/adapters/jsonscan"
)

const (
	maxMessage = 500 // runes
	maxDepth   = 128
	minSecret  = 4 // bytes: a header or query value that is shorter is a setting, not a key
)

// message is what a backend's error body says.
type message struct {
	text, code, param string
	tooLong           bool // the prompt does not fit the context
}

// readMessage looks for the message in the places where servers put it:
// error.message, error, message, detail, detail[].msg; plain text; the text of
// an HTML page.
func readMessage(body []byte) message {
	body = bytes.TrimSpace(body)
	if jsonscan.Valid(body, maxDepth) == nil {
		return jsonMessage(gjson.ParseBytes(body))
	}
	text := string(body[:min(len(body), maxErrorBody)])
	if strings.HasPrefix(text, "<") {
		text = htmlText(text)
	}
	return message{text: text}
}

func jsonMessage(v gjson.Result) message {
	if v.IsArray() { // some servers put the one error into an array
		v = v.Get("0")
	}
	if v.Type == gjson.String {
		return message{text: v.Str}
	}
	var m message
	for _, path := range []string{"error.message", "error", "message", "detail"} {
		if r := v.Get(path); r.Type == gjson.String && r.Str != "" {
			m.text = r.Str
			break
		}
	}
	if m.text == "" {
		v.Get("detail").ForEach(func(_, item gjson.Result) bool {
			if msg := item.Get("msg").String(); msg != "" {
				m.text = strings.TrimPrefix(m.text+"; "+msg, "; ")
			}
			return true
		})
	}
	e := v.Get("error")
	if !e.IsObject() {
		e = v
	}
	if code := e.Get("code"); code.Type == gjson.String {
		m.code = code.Str
	}
	m.param = e.Get("param").String()
	m.tooLong = m.code == codeTooLong || e.Get("type").Str == "exceed_context_size_error"
	return m
}

// saysTooLong reports whether an error text means that the prompt does not fit
// the model's context: OpenAI and vLLM, llama.cpp, Ollama, TGI.
func saysTooLong(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{
		"maximum context length", "context length exceeded", "exceeds the available context size",
		"exceeds the context window", "exceeds the maximum context", "prompt is too long", "tokens + `max_new_tokens`",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

var (
	hiddenHTML = regexp.MustCompile(`(?is)<!--.*?-->|<(script|style)\b.*?</(script|style)\s*>`)
	htmlTag    = regexp.MustCompile(`(?s)<[^>]*>`)
)

// htmlText returns the visible words of a page.
func htmlText(page string) string {
	page = htmlTag.ReplaceAllString(hiddenHTML.ReplaceAllString(page, " "), " ")
	return strings.Join(strings.Fields(html.UnescapeString(page)), " ")
}

// clean makes a text fit for messages: secrets and the backend's address are
// cut out, control characters escaped, and it is not long.
func (up *Upstream) clean(s string) string {
	for _, secret := range up.secrets() {
		s = cutStart(strings.ReplaceAll(s, secret, "***"), secret)
	}
	return bounded(strings.TrimSpace(s))
}

// cutStart cuts out the start of secret at the end of a text that somebody has
// shortened.
func cutStart(s, secret string) string {
	rest, shortened := strings.CutSuffix(s, "...")
	for n := len(secret) - 1; shortened && n >= minSecret; n-- {
		if before, ok := strings.CutSuffix(rest, secret[:n]); ok {
			return before + "***..."
		}
	}
	return s
}

// bounded escapes what is not printable and ends a long text with an ellipsis.
func bounded(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		piece := string(r)
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			piece = " "
		case r != utf8.RuneError && !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029':
			piece = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
		}
		if n += utf8.RuneCountInString(piece); n > maxMessage {
			return b.String() + "..."
		}
		b.WriteString(piece)
	}
	return b.String()
}

// secrets returns what must not be in a message, longest first, so that no
// part of one is left over.
func (up *Upstream) secrets() []string {
	list := slices.Clone(up.Secrets)
	for _, values := range up.Header {
		for _, v := range values {
			if _, token, ok := strings.Cut(v, " "); ok { // Bearer and the like
				list = append(list, token)
			}
			if len(v) >= minSecret {
				list = append(list, v)
			}
		}
	}
	for _, s := range list {
		list = append(list, url.QueryEscape(s), url.PathEscape(s))
	}
	list = append(list, addresses(up.URL)...)
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}

// addresses returns the ways in which a message may name the backend.
func addresses(base string) []string {
	list := []string{base}
	if path, ok := strings.CutPrefix(base, "unix:"); ok {
		return append(list, path)
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return list
	}
	list = append(list, u.Scheme+"://"+u.Host, u.Host, u.RawQuery)
	for _, values := range u.Query() {
		for _, v := range values {
			if len(v) >= minSecret {
				list = append(list, v)
			}
		}
	}
	if u.User != nil {
		list = append(list, u.User.String())
		if password, ok := u.User.Password(); ok {
			list = append(list, password)
		}
	}
	if name := u.Hostname(); strings.ContainsAny(name, ".:") {
		list = append(list, name)
	}
	return list
}
