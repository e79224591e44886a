package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"dragoman/adapters/llm"
	"dragoman/gateway/route"
)

// probe prints how every backend is, and returns the exit status: 1 if one is
// not well or lacks its model.
func probe(ctx context.Context, table *route.Table, w io.Writer) int {
	status := 0
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "MODEL\tADAPTER\tSTATE\tMODELS THERE, OR WHY IT IS DOWN")
	for _, p := range table.Probe(ctx) {
		last := few(p.Models)
		state := fmt.Sprintf("up, %d ms", p.Took.Round(time.Millisecond).Milliseconds())
		switch {
		case p.Engine:
			state = "started when asked for"
		case p.Silent:
			state = "nothing tells"
		case p.Err != nil:
			state, last = "DOWN", reason(p.Err)
		case p.Lacks != "":
			state = "up, but without " + p.Lacks
		}
		if p.Err != nil || p.Lacks != "" {
			status = 1
		}
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", p.Backend, p.Adapter, state, last)
	}
	columns.Flush()
	return status
}

// reason returns what is known of a failure.
func reason(err error) string {
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Err != nil {
		return fmt.Sprintf("%s (%v)", e.Message, e.Err)
	}
	return err.Error()
}

// few returns the first names of a list, and how many more there are.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
