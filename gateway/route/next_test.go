package route

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"dragoman/adapters/llm"
	"dragoman/gateway/config"
)

// TestNextBackend: which failures are taken to another backend, and what the
// client sees if that fails as well.
func TestNextBackend(t *testing.T) {
	f := func(name string, do http.HandlerFunc, next bool, status int, code string) {
		t.Run(name, func(t *testing.T) {
			bad, good := newStation(t, do), newStation(t, says("good\n"))
			first := bad.backend()
			if name == "time-out" {
				first.Timeout = config.Timeout{Connect: time.Second, First: 20 * time.Millisecond, Idle: time.Second}
			}
			g := newFleet(t, backends("m", first, good.backend()))
			if next {
				g.want("good")
			} else if e := g.fails(); e.Status != status || e.Code != code {
				t.Errorf("got %+v", e)
			}
			if asked := good.was() > 0; asked != next {
				t.Errorf("the next backend was asked: %v", asked)
			}
			g = newFleet(t, backends("m", first, first))
			if e := g.fails(); e.Status != status || e.Code != code {
				t.Errorf("of all that failed: got %+v", e)
			}
		})
	}
	f("400", status(400), false, 400, "")
	f("413", status(413), false, 400, "")
	f("422", status(422), false, 400, "")
	f("401", status(401), true, 502, "upstream_auth")
	f("403", status(403), true, 502, "upstream_auth")
	f("404", status(404), true, 502, "upstream_not_found")
	f("429", status(429, "Retry-After", "7"), true, 429, "upstream_error")
	f("503", status(503), true, 503, "upstream_error")
	f("529", status(529), true, 503, "upstream_error")
	f("424", status(424), true, 502, "upstream_error")
	f("500", status(500), true, 502, "upstream_error")
	f("302", status(302, "Location", "/"), true, 502, "upstream_error")
	f("504", status(504), true, 504, "upstream_error")
	f("time-out", isSilent, true, 504, "upstream_error")
	f("reset", hangsUp, true, 502, "upstream_error")
	f("compressed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(200)
	}, true, 502, "upstream_error")
}

// TestBC065NoFailoverToAnEqualTarget: a prompt that is too long for one backend
// is not tried on the others, and no backend rests for it.
func TestBC065NoFailoverToAnEqualTarget(t *testing.T) {
	tooLong := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		says(`{"error":{"code":400,"type":"exceed_context_size_error","message":"too long","n_prompt_tokens":9,"n_ctx":4}}`)(w, nil)
	}
	one, two, other := newStation(t, tooLong), newStation(t, tooLong), newStation(t, says("other\n"))
	f := newFleet(t, falls(backends("m", one.backend(), two.backend()), "n"), backends("n", other.backend()))
	for range 6 {
		if e := f.fails(); e.Status != 400 || e.Code != "context_length_exceeded" || e.RetryAfter != "" {
			t.Errorf("got %+v", e)
		}
	}
	if a, b, c := one.was(), two.was(), other.was(); a != 3 || b != 3 || c != 0 {
		t.Errorf("asked %d, %d and %d times", a, b, c)
	}
}

func TestRefusedConnection(t *testing.T) {
	good := newStation(t, says("good\n"))
	f := newFleet(t, backends("m", config.Backend{URL: "http://127.0.0.1:1"}, good.backend()))
	for range 3 {
		f.want("good")
	}
	if n := strings.Count(f.log.String(), "a backend failed"); n != 1 { // then it rested
		t.Errorf("%d failures are logged:\n%s", n, f.log.String())
	}
}

// TestCutBeforeTheFirstEvent: a 200 alone is no answer yet. After the first event
// no other backend is asked.
func TestCutBeforeTheFirstEvent(t *testing.T) {
	says2 := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			says(text)(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	bad, good := newStation(t, says2("")), newStation(t, says("good\n"))
	newFleet(t, backends("m", bad.backend(), good.backend())).want("good")

	bad.does(says2("half\nof"))
	s, err := newFleet(t, backends("m", bad.backend(), good.backend())).open()
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = s.Next(nil)
	}
	s.Close()
	if e := asError(t, err); e.Status != 502 || good.was() != 1 {
		t.Errorf("got %+v", e)
	}
}

func TestMostUsefulError(t *testing.T) {
	f := func(status int, retryAfter, said string, does ...http.HandlerFunc) {
		t.Helper()
		var list []config.Backend
		for _, do := range does {
			list = append(list, newStation(t, do).backend())
		}
		other := newStation(t, hangsUp)
		g := newFleet(t, falls(backends("m", list...), "n"), backends("n", other.backend()))
		e := g.fails()
		if e.Status != status || e.RetryAfter != retryAfter || !strings.Contains(e.Message, said) {
			t.Errorf("got %d, %q, %q; want %d, %q, %q", e.Status, e.RetryAfter, e.Message, status, retryAfter, said)
		}
		if asked := other.was(); (asked == 1) != (status != 400) {
			t.Errorf("the fallback was asked %d times", asked)
		}
	}
	f(502, "", "said 500", status(500), status(502))
	f(502, "", "said 500", status(500), status(504), hangsUp)
	f(429, "1", "said 429", status(500), status(429)) // the first rests for a second
	f(429, "9", "said 429", status(429, "Retry-After", "9"), status(503, "Retry-After", "20"))
	f(429, "9", "said 429", status(429, "Retry-After", "20"), status(503, "Retry-After", "9"))
	f(503, "300", "said 503", status(503, "Retry-After", "86400"))
	f(503, "30", "said 503", status(503, "Retry-After", "Mon, 30 Nov 2026 12:00:30 GMT"))
	f(400, "", "said 422", status(500), status(422))
}

func TestOneBackendAloneIsPassedOnAsItIs(t *testing.T) {
	only := newStation(t, status(429, "Retry-After", "86400"))
	f := newFleet(t, backends("m", only.backend()))
	for range 3 {
		if e := f.fails(); e.Status != 429 || e.RetryAfter != "86400" {
			t.Errorf("got %+v", e)
		}
	}
	only.does(status(500))
	for range 3 {
		f.fails()
	}
	only.does(says("back\n"))
	f.want("back")
	if n := only.was(); n != 7 || f.log.Len() > 0 {
		t.Errorf("asked %d times, logged %s", n, f.log.String())
	}
}

func TestFallbacks(t *testing.T) {
	a, b, c := newStation(t, status(503)), newStation(t, status(500)), newStation(t, says("c\n"))
	f := newFleet(t,
		falls(backends("m", a.backend()), "x/b", "c"),
		falls(backends("x/*", config.Backend{URL: b.url, Model: "*"}), "c-too"),
		config.Model{Name: "c", Aliases: []string{"c-too"}, Backends: []config.Backend{c.backend()}})
	ctx, tell := WithTrace(t.Context(), "req-1")
	s, err := pick(t, f.table, "m").Open(ctx, chat("hi"))
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, s); got != "c" {
		t.Errorf("got %q", got)
	}
	if backend, n := tell(); backend != "c" || n != 3 {
		t.Errorf("traced %q, %d", backend, n)
	}
	if got := f.log.String(); strings.Count(got, "id=req-1") != 2 || !strings.Contains(got, "model=m backend=m attempt=1") ||
		!strings.Contains(got, "backend=x/* attempt=2") {
		t.Errorf("logged %s", got)
	}
	dialect := f.table.groups[1].backends[0].adapter.(*dialect)
	for range 3 { // a, b, c
		if got := (<-dialect.got).Model; got == "b" {
			return
		}
	}
	t.Error("the * of a fallback was not filled in")
}

// TestEachModelIsCheckedAgain: who cannot do what is asked is left out, in the
// model itself and in its fallbacks.
func TestEachModelIsCheckedAgain(t *testing.T) {
	down, plain, able := newStation(t, status(500)), newStation(t, says("plain\n")), newStation(t, says("able\n"))
	with := func(s *station, adapter string) config.Backend { return config.Backend{URL: s.url, Adapter: adapter} }
	f := func(want string, models ...config.Model) {
		t.Helper()
		req := chat("hi")
		req.Needs = []llm.Need{{Field: "tools", Path: "tools"}}
		s, err := pick(t, newFleet(t, models...).table, "m").Open(t.Context(), req)
		if err != nil {
			if e := asError(t, err); e.Code != want {
				t.Errorf("got %+v, want %s", e, want)
			}
			return
		}
		if got := text(t, s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("able", backends("m", with(plain, ""), with(able, "tools")))
	f("able", falls(backends("m", with(down, "tools"), with(plain, "")), "n", "o"),
		backends("n", with(plain, "")), backends("o", with(able, "tools")))
	f("upstream_error", falls(backends("m", with(down, "tools")), "n"), backends("n", with(plain, "")))
	// What the model asked for cannot do at all is the client's to know.
	f("unsupported_parameter", falls(backends("m", with(plain, ""), with(plain, "")), "n"), backends("n", with(able, "tools")))
	if n := plain.was(); n != 0 {
		t.Errorf("it was asked %d times for what it cannot do", n)
	}
}

func TestAdapterThatFails(t *testing.T) {
	good := newStation(t, says("good\n"))
	f := newFleet(t, backends("m", config.Backend{URL: good.url, Adapter: "broken"}, good.backend()))
	f.want("good")
	f.want("good")
	if got := f.log.String(); strings.Count(got, "a backend could not be asked") != 1 {
		t.Errorf("logged %s", got)
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	bad := newStation(t, status(500))
	var list []config.Backend
	for range 6 {
		list = append(list, bad.backend())
	}
	f := newFleet(t, falls(backends("m", list...), "n"), backends("n", list...))
	f.fails()
	if n := bad.was(); n != maxAttempts {
		t.Errorf("asked %d times", n)
	}
}

// TestBC067AClientThatGoesEndsTheWalk: no other backend is asked for nobody, and
// none is blamed.
func TestBC067AClientThatGoesEndsTheWalk(t *testing.T) {
	came := make(chan struct{}, 1)
	silent := newStation(t, func(w http.ResponseWriter, r *http.Request) { came <- struct{}{}; isSilent(w, r) })
	other := newStation(t, says("other\n"))
	f := newFleet(t, falls(backends("m", silent.backend(), silent.backend()), "n"), backends("n", other.backend()))
	gone := errors.New("the client is gone")
	ctx, leave := context.WithCancelCause(t.Context())
	failed := make(chan error)
	go func() {
		_, err := pick(t, f.table, "m").Open(ctx, chat("hi"))
		failed <- err
	}()
	<-came
	leave(gone)
	if err := <-failed; !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	if silent.was() != 1 || other.was() != 0 || f.log.Len() > 0 {
		t.Errorf("others were asked; logged %s", f.log.String())
	}
	silent.does(says("back\n"))
	f.want("back")
	f.want("back")
	if n := silent.was(); n != 2 {
		t.Errorf("it rested: asked %d times", n)
	}
}

// TestBC084EachBackendGetsItsOwnKey: nothing of the one before goes to the next.
func TestBC084EachBackendGetsItsOwnKey(t *testing.T) {
	var got []string
	note := func(do http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.Header.Get("Authorization")+" "+r.Header.Get("X-Own"))
			do(w, r)
		}
	}
	keyed := func(do http.HandlerFunc, key config.Secret, forward bool) config.Backend {
		return config.Backend{
			URL: newStation(t, note(do)).url, Key: key, ForwardAuth: forward,
			Headers: map[string]config.Secret{"X-Own": "own-" + key},
		}
	}
	f := newFleet(t,
		falls(backends("m", keyed(status(500), "A", false), keyed(status(401), "B", true)), "n"),
		backends("n", keyed(says("done\n"), "C", false)))
	s, err := pick(t, f.table, "m").Open(WithAuthorization(t.Context(), "Bearer sk-client"), chat("hi"))
	if err != nil {
		t.Fatal(err)
	}
	text(t, s)
	if strings.Join(got, ", ") != "Bearer A own-A, Bearer sk-client own-B, Bearer C own-C" {
		t.Errorf("got %q", got)
	}
	for _, secret := range []string{"Bearer", "own-", "sk-client"} {
		if strings.Contains(f.log.String(), secret) {
			t.Errorf("%q is logged: %s", secret, f.log.String())
		}
	}
}
