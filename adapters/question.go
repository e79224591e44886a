package adapters

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"dragoman/adapters/llm"
)

// ask asks q and returns the value that its answer has at Field.
func (q *Question) ask(ctx context.Context, ask Ask) (gjson.Result, error) {
	call := Call{Method: http.MethodGet, Path: q.Path}
	if q.Method == http.MethodPost {
		call = PostJSON(q.Path, []byte("{}"))
	}
	answer, err := ask(ctx, call)
	if err != nil || q.Field == "" {
		return gjson.Result{}, err
	}
	if err := CheckJSON(answer); err != nil {
		return gjson.Result{}, fmt.Errorf("reading the answer of %s: %w", q.Path, err)
	}
	return gjson.GetBytes(answer, q.Field), nil
}

// CheckHealth asks a backend with these traits whether it can take requests. The
// error says why not; it is nil where nothing tells.
func (t *Traits) CheckHealth(ctx context.Context, ask Ask) error {
	q := &t.Health
	if q.Path == "" {
		return nil
	}
	state, err := q.ask(ctx, ask)
	if e := (*llm.Error)(nil); errors.As(err, &e) && (e.Code == "upstream_not_found" || e.Code == "upstream_auth" || e.Status/100 == 4) {
		return nil // it is there, if not for this question
	}
	if err != nil || len(q.Is) == 0 || slices.Contains(q.Is, state.String()) {
		return err
	}
	return llm.Upstream(http.StatusServiceUnavailable, "", "The backend is not ready (%s).", Clip([]byte(state.String()), 64))
}

// ListModels asks a backend with these traits for the names of its models, in its
// own order. The list is empty where nothing tells.
func (t *Traits) ListModels(ctx context.Context, ask Ask) ([]string, error) {
	q := &t.Models
	if q.Path == "" {
		return nil, nil
	}
	found, err := q.ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range found.Array() {
		if name.Type == gjson.String && name.Str != "" {
			names = append(names, name.Str)
		}
	}
	return names, nil
}
