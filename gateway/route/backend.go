package route

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/adapters/parse"
	"dragoman/adapters/stream"
	"dragoman/gateway/sigv4"
)

// backend is one configured server: one attempt at a request is its open.
type backend struct {
	name        string // its place in the configuration, for logs: vicuna, or vicuna[1] of several
	wanted      string // its name for the model; a * is what that of the entry's name stands for
	weight      int
	turn        int // guarded by its group, see take
	health      health
	adapter     adapters.Adapter
	upstream    *stream.Upstream  // nil: child knows; the controller's, if there is one
	child       *child            // nil: the server is not ours to start
	controller  *controller       // nil: upstream is the server itself
	signer      *sigv4.Signer     // nil: calls are not signed
	template    adapters.Template // from the configuration; nil: none
	templates   *templates        // asked of the backend; nil: it cannot be asked
	fitter      adapters.Fitter   // nil: the backend refuses what does not fit
	counter     adapters.Counter  // nil: the backend cannot be asked
	embedder    adapters.Embedder // nil: the backend gives no embeddings
	reader      *reader
	noTools     bool // template has no place for them, or no known notation
	slots       slots
	drop        map[string]bool
	maxTokens   int64
	forwardAuth bool
	log         *slog.Logger
}

// open is one attempt; model is the backend's name for the model. The caller has
// taken a slot and checked that b is able; open, or the Close of its stream, frees
// the slot.
func (b *backend) open(ctx context.Context, req *llm.Request, model string) (answer stream.Source, err error) {
	defer func() {
		if answer == nil { // it may have panicked
			b.slots.release()
		}
	}()
	if len(req.Prompts) > 1 || req.N > 1 && !b.drop["n"] && !b.adapter.Traits().CanDo("n") {
		return b.openEach(ctx, req, model)
	}
	s, err := b.call(ctx, req, model)
	if err != nil {
		return nil, err
	}
	s.OnClose(b.slots.release)
	return s, nil
}

// call asks the server for the answer. Where a controller knows it, and it turns
// out to be gone, the controller may name another.
func (b *backend) call(ctx context.Context, req *llm.Request, model string) (*stream.Stream, error) {
	for again := b.controller != nil; ; again = false {
		up, held, err := b.reach(ctx, req.Model, model)
		if err != nil {
			return nil, err
		}
		s, err := b.callAt(ctx, up, b.prepare(req, model), held)
		if err == nil || !again || !errors.Is(err, stream.ErrUnreachable) {
			return s, err
		}
	}
}

// callAt asks the server at up once. It calls held when it is needed no more.
func (b *backend) callAt(ctx context.Context, up *stream.Upstream, r *llm.Request, held func()) (s *stream.Stream, err error) {
	defer func() {
		if s == nil { // it may have panicked
			held()
		}
		if b.templates != nil && lost(err) {
			b.templates.drop(up.URL)
		}
	}()
	if err := b.wellAgain(ctx, up); err != nil {
		return nil, err
	}
	plan, err := b.render(ctx, up, r)
	if err != nil {
		return nil, err
	}
	if err := b.fit(ctx, up, r); err != nil {
		return nil, err
	}
	if s, err = stream.OpenParsed(ctx, up, b.adapter, r, plan); err == nil {
		s.OnClose(held)
	}
	return s, err
}

// lost reports whether err says that the backend was not there.
func lost(err error) bool {
	e := (*llm.Error)(nil)
	return errors.As(err, &e) && (e.Status == http.StatusBadGateway || e.Status == http.StatusServiceUnavailable)
}

// reach returns the way to the server for one request, and what to call when it is
// needed no more. The client calls the model asked, the backend calls it model.
func (b *backend) reach(ctx context.Context, asked, model string) (*stream.Upstream, func(), error) {
	if b.child != nil {
		return b.child.reach(ctx)
	}
	up := b.upstream
	if auth := authorization(ctx); b.forwardAuth && auth != "" {
		up = withAuthorization(up, b.adapter.Traits().KeyHeader, auth)
	}
	var err error
	if b.controller != nil {
		up, err = b.controller.find(ctx, up, asked, model)
	}
	return up, func() {}, err
}

// render fills in the prompt, for backends that take one, and returns how the
// answer's text is read.
func (b *backend) render(ctx context.Context, up *stream.Upstream, r *llm.Request) (*parse.Plan, error) {
	if r.Kind == llm.Completion {
		if b.adapter.Traits().PromptStops {
			b.stop(ctx, up, r)
		}
		return nil, nil
	}
	if b.adapter.Traits().Messages {
		return b.reader.format("").Plan(r, false), nil
	}
	template, err := b.chatTemplate(ctx, up, r.Model)
	if err != nil {
		return nil, err
	}
	made, err := template.Render(r)
	if err != nil {
		return nil, err
	}
	format := b.reader.format(made.Source)
	for _, need := range r.Needs {
		if offersTools(need) && !(made.Tools && format.Tools()) {
			return nil, unsupported(r, need)
		}
	}
	r.Prompt = made.Prompt
	addStops(r, &made)
	plan := format.Plan(r, made.OpensThink)
	if plan != nil {
		r.Spell, r.After = plan.Texts(), plan.Begins()
	}
	return plan, nil
}

// chatTemplate returns the template that the configuration names, or the server's.
func (b *backend) chatTemplate(ctx context.Context, up *stream.Upstream, model string) (adapters.Template, error) {
	if b.template != nil {
		return b.template, nil
	}
	return b.templates.get(ctx, stream.Asker(up), served{up.URL, model})
}

// stop adds the stops of the chat template to a prompt that the client wrote. It
// goes without them if the template is no good: the prompt does not need it.
func (b *backend) stop(ctx context.Context, up *stream.Upstream, r *llm.Request) {
	template, err := b.chatTemplate(ctx, up, r.Model)
	if err != nil {
		return
	}
	made, err := template.Render(&llm.Request{Messages: []llm.Message{{Role: "user", Content: "hello"}}})
	if err == nil {
		addStops(r, &made)
	}
}

func addStops(r *llm.Request, made *adapters.Rendered) {
	r.Stop = merge(r.Stop, made.Stop)
	r.Params[llm.StopTokenIDs] = mergeIDs(r.Params[llm.StopTokenIDs], made.StopTokenIDs)
}

// fit bounds the answer by the room that the prompt leaves. Where that cannot be
// told, an answer that has no bound yet gets the default.
func (b *backend) fit(ctx context.Context, up *stream.Upstream, r *llm.Request) error {
	if b.fitter == nil {
		return nil
	}
	n, err := b.fitter.Fit(ctx, stream.Asker(up), r)
	if err == nil && !b.drop["max_tokens"] && !b.drop["max_completion_tokens"] {
		r.MaxTokens = n
		if n <= 0 {
			r.MaxTokens = b.maxTokens
		}
	}
	return err
}

// merge returns a and what of b is not in it. It changes neither.
func merge(a, b []string) []string {
	all := slices.Clip(a)
	for _, s := range b {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// mergeIDs adds ids to a list of numbers in JSON, which may be "".
func mergeIDs(list string, ids []int) string {
	if len(ids) == 0 {
		return list
	}
	inner := strings.TrimSpace(strings.Trim(strings.TrimSpace(list), "[]"))
	for _, id := range ids {
		if inner != "" {
			inner += ","
		}
		inner += strconv.Itoa(id)
	}
	return "[" + inner + "]"
}
