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

	"dragoman/adapters"
)

const (
	maxMessage = 500 // runes
	minSecret  = 4   // bytes: a header or query value that is shorter is a setting, not a key
)

// readProblem reads an error body: JSON, plain text, the words of a page, or
// one server-sent event, as Triton sends an error.
func readProblem(body []byte) adapters.Problem {
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("data:")))
	if adapters.CheckJSON(body) == nil {
		return adapters.ReadProblem(body)
	}
	text := string(body[:min(len(body), maxErrorBody)])
	if strings.HasPrefix(text, "<") {
		text = htmlText(text)
	}
	return adapters.Problem{Message: text}
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
