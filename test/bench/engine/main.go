// Command engine measures the bundled engine against llama-server, side by side
// on this machine, and prints one table: make bench-engine.
//
// Both load the same model file; llama-server is of the llama.cpp version that
// the engine's libraries have (test/real/setup.sh builds it). Of each row there
// are several rounds, in which the two take turns, so that what else goes on
// meets both. Only ratios within one run mean anything.
//
// With -gpu the two are the engine on that device and the engine on the
// processor: make bench-gpu. With -against they are two builds of the engine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// settings are the command line.
type settings struct {
	engine, lib, llama string // the programs' folders and files
	models             string
	gpu                string // device that is compared with the processor; "" compares with llama-server
	against            string // another build of the engine; "" compares with llama-server
	rounds             int
	window, limit      time.Duration
	only               *regexp.Regexp
	engineArgs         []string
	llamaArgs          []string

	parts   []func(context.Context, *table) error
	columns [2]string
}

func parse() (s settings) {
	flag.StringVar(&s.engine, "engine", "bin/dragoman-engine", "the engine's `program`")
	flag.StringVar(&s.lib, "lib", "bin/lib", "`folder` of the engine's libraries")
	flag.StringVar(&s.llama, "llama", "bin/real/llamacpp/*/bin", "`folder` of llama-server and llama-bench")
	flag.StringVar(&s.models, "models", "engine/stories/stories.gguf,bin/real/models/smollm2.gguf", "GGUF `files`")
	flag.StringVar(&s.gpu, "gpu", "", "compare the engine on this `device` with itself on the processor")
	flag.StringVar(&s.against, "against", "", "compare with another build of the engine, this `program`")
	flag.IntVar(&s.rounds, "rounds", 5, "`rounds` of each row")
	flag.DurationVar(&s.window, "window", 4*time.Second, "`time` for which a few streams are watched; many are for two or three times as long")
	flag.DurationVar(&s.limit, "limit", 20*time.Second, "`time` that one server may take for one round of long prompts")
	only := flag.String("only", "", "only the rows that match this `pattern`")
	engineArgs := flag.String("engine-args", "", "further `flags` for the engine")
	llamaArgs := flag.String("llama-args", "", "further `flags` for llama-server")
	spin := flag.Bool("spin", false, "keep the processors busy until killed")
	flag.Parse()
	if *spin {
		busy()
	}
	s.only = regexp.MustCompile(*only)
	s.engineArgs, s.llamaArgs = strings.Fields(*engineArgs), strings.Fields(*llamaArgs)
	if found, _ := filepath.Glob(s.llama); len(found) == 1 {
		s.llama = found[0]
	}
	s.parts = []func(context.Context, *table) error{throughput, besideOthers, turns, decodeAlone}
	s.columns = [2]string{"engine", "llama-server"}
	if s.against != "" {
		s.columns[1] = "other build"
	}
	if s.gpu != "" {
		s.parts = []func(context.Context, *table) error{throughput, turns}
		s.columns = [2]string{s.gpu, "cpu"}
	}
	return s
}

func main() {
	s := parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench-engine:", err)
		os.Exit(1)
	}
}

// run measures one model after the other.
func run(ctx context.Context, s settings) error {
	fmt.Printf("%s against %s, %d processors, %d rounds; load average %s\n", s.columns[0], s.columns[1], runtime.NumCPU(), s.rounds, loadAverage())
	fmt.Println("median (lowest to highest); × is the median of the rounds' ratios, above 1 where the first is ahead")
	for model := range strings.SplitSeq(s.models, ",") {
		t := &table{settings: s, model: model}
		fmt.Printf(format, strings.TrimSuffix(filepath.Base(model), ".gguf"), s.columns[0], s.columns[1], "×")
		for _, part := range s.parts {
			if err := part(ctx, t); err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(model), err)
			}
		}
	}
	fmt.Printf("load average %s\n", loadAverage())
	return nil
}

// loadAverage returns how many processes wanted a processor of late, where Linux tells.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
