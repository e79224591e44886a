package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"

	"dragoman/gateway/managed"
	"dragoman/gateway/models"
	"dragoman/gateway/pull"
)

// command is what the program does instead of serving.
type command struct {
	args string // "", or what it wants
	does string
	run  func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

var commands = map[string]command{
	"pull":   {" MODEL...", "download models, such as smollm2, hf:owner/name:Q4_K_M or https://host/file.gguf", pullModels},
	"models": {"", "list the downloaded models", listModels},
	"rm":     {" MODEL...", "remove downloaded models, by the names that dragoman models shows", removeModels},
}

// runCommand runs a command and returns the program's exit status.
func runCommand(name string, args []string, stdout, stderr io.Writer) int {
	c := commands[name]
	if len(args) > 0 && strings.HasPrefix(args[0], "-") || (c.args != "") != (len(args) > 0) {
		fmt.Fprintf(stderr, "dragoman %s%s: %s\n", name, c.args, c.does)
		if len(args) > 0 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help") {
			return 0
		}
		return 2
	}
	ctx, forget := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer forget()
	if err := c.run(ctx, args, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "dragoman %s: %v\n", name, err)
		return 1
	}
	return 0
}

// pullModels downloads models.
func pullModels(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	for _, name := range args {
		ref, err := models.Parse(name)
		if err != nil {
			return err
		}
		path, err := pull.Pull(ctx, ref, pull.Options{Out: stderr, Terminal: isTerminal(stderr)})
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, path)
		switch about, err := managed.Ask(ctx, managed.Options{Model: path}); {
		case err != nil:
			fmt.Fprintln(stderr, err)
		case !about.Fits:
			fmt.Fprintf(stderr, "With the engine's defaults it takes about %s of memory, and %s are free: lower ctx or parallel.\n", gib(about.Memory.Total), gib(about.Free))
		}
		fmt.Fprintf(stderr, "To serve it, put it below models: in config.yaml, as\n  %s: {engine: {model: %q}}\n", shortName(name, path), name)
	}
	return nil
}

// shortName is what a model could be called by clients: the one word that it
// was asked for by, or its file's name in short.
func shortName(asked, path string) string {
	if _, ok := models.Known[asked]; ok {
		return asked
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	name, _, _ = strings.Cut(name, "-00001-of-")
	return strings.ToLower(name)
}

// listModels shows what is in the folder of models.
func listModels(ctx context.Context, _ []string, stdout, _ io.Writer) error {
	dir := models.Dir()
	list, err := models.List(dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintf(stdout, "There are no models in %s yet; dragoman pull smollm2 downloads a small one.\n", dir)
		return nil
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSIZE\tQUANT\tARCHITECTURE\tCONTEXT\tMEMORY\tPATH")
	for _, m := range list {
		about, err := managed.Ask(ctx, managed.Options{Model: m.Files[0]})
		if err != nil {
			fmt.Fprintf(w, "%s\t%s\t\t\t\t%s\t%s\n", m.Name, gib(uint64(m.Size)), problem(err, m.Files[0]), m.Files[0])
			continue
		}
		fits := "fits"
		if !about.Fits {
			fits = "does not fit"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s, %s\t%s\n", m.Name, gib(uint64(m.Size)), about.Quantization, about.Architecture,
			about.TrainContext, gib(about.Memory.Total), fits, m.Files[0])
	}
	return w.Flush()
}

// problem is the end of an error, without what the line says anyway.
func problem(err error, path string) string {
	if _, why, ok := strings.Cut(err.Error(), path+": "); ok && !strings.Contains(why, path) {
		return why
	}
	return err.Error()
}

// removeModels deletes models from the folder.
func removeModels(_ context.Context, args []string, stdout, _ io.Writer) error {
	dir := models.Dir()
	list, err := models.List(dir)
	if err != nil {
		return err
	}
	for _, name := range args {
		found := false
		for _, m := range list {
			if m.Name != name && m.Files[0] != name {
				continue
			}
			found = true
			if err := models.Remove(dir, m); err != nil {
				return err
			}
			fmt.Fprintf(stdout, "removed %s, %s\n", m.Name, gib(uint64(m.Size)))
		}
		if !found {
			return fmt.Errorf("there is no model %s; dragoman models lists them", name)
		}
	}
	return nil
}

// gib is a number of bytes for people.
func gib(n uint64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// isTerminal reports whether w is a terminal, where a line can be written anew.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
