package models

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Option is one way to have a model: a file, or the parts of one.
type Option struct {
	Quant string   // upper case, such as Q4_K_M; "" if the name does not tell
	Files []string // slash-separated, in order
}

var (
	partName  = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})\.gguf$`)
	quantName = regexp.MustCompile(`(?i)(?:^|[-._/ ])((?:UD-)?(?:I?Q[1-8](?:_[A-Z0-9]+)*|TQ[12]_0|MXFP4(?:_MOE)?|NVFP4|BF16|F16|FP16|F32))$`)
)

// group joins the parts of models, and leaves out what is no model: projectors
// for images, matrices for quantizing, and models of which parts are missing.
func group(files []string) []Option {
	parts := map[string][]string{}
	for _, file := range files {
		base := strings.ToLower(path.Base(file))
		if !validFile(file) || strings.Contains(base, "mmproj") || strings.Contains(base, "imatrix") {
			continue
		}
		key := file
		if m := partName.FindStringSubmatch(file); m != nil {
			key = m[1] + "-of-" + m[3]
		}
		parts[key] = append(parts[key], file)
	}
	var list []Option
	for _, p := range parts {
		slices.Sort(p)
		p = slices.Compact(p)
		if m := partName.FindStringSubmatch(p[0]); m != nil {
			if n, _ := strconv.Atoi(m[3]); n != len(p) {
				continue
			}
		}
		list = append(list, Option{Quant: quantOf(p[0]), Files: p})
	}
	slices.SortFunc(list, func(a, b Option) int { return cmp.Compare(a.Files[0], b.Files[0]) })
	return list
}

// quantOf reads the quantization out of a file's name, or out of its folder's.
func quantOf(file string) string {
	stem := strings.TrimSuffix(file, ".gguf")
	if m := partName.FindStringSubmatch(file); m != nil {
		stem = m[1]
	}
	for stem != "." && stem != "/" && stem != "" {
		if m := quantName.FindStringSubmatch(stem); m != nil {
			return strings.ToUpper(m[1])
		}
		stem = path.Dir(stem)
	}
	return ""
}

// preferred are the quantizations to take for those who name none.
var preferred = []string{"Q4_K_M", "Q8_0"}

// Choose returns which of a repository's files r means. The error lists what
// there is.
func Choose(files []string, r Ref) (Option, error) {
	options := group(files)
	if r.File != "" {
		for _, o := range options {
			if slices.Contains(o.Files, r.File) {
				return o, nil
			}
		}
		return Option{}, fmt.Errorf("%s/%s has no whole model in %s%s", r.Owner, r.Name, r.File, list(options))
	}
	if r.Quant != "" {
		return only(options, r, strings.ToUpper(r.Quant))
	}
	for _, quant := range preferred {
		if slices.ContainsFunc(options, func(o Option) bool { return o.Quant == quant }) {
			return only(options, r, quant)
		}
	}
	switch len(options) {
	case 0:
		return Option{}, fmt.Errorf("%s/%s has no GGUF model", r.Owner, r.Name)
	case 1:
		return options[0], nil
	}
	return Option{}, fmt.Errorf("%s/%s has several models, say which: hf:%s/%s:QUANT%s", r.Owner, r.Name, r.Owner, r.Name, list(options))
}

// only returns the one option of that quantization.
func only(options []Option, r Ref, quant string) (Option, error) {
	var found []Option
	for _, o := range options {
		if o.Quant == quant || strings.TrimPrefix(o.Quant, "UD-") == quant && !slices.ContainsFunc(options, func(o Option) bool { return o.Quant == quant }) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return Option{}, fmt.Errorf("%s/%s has no %s%s", r.Owner, r.Name, quant, list(options))
	case 1:
		return found[0], nil
	}
	return Option{}, fmt.Errorf("%s/%s has several files of %s, say which: hf:%s/%s/FILE%s", r.Owner, r.Name, quant, r.Owner, r.Name, list(found))
}

// list shows options for a person.
func list(options []Option) string {
	const most = 40
	var b strings.Builder
	for i, o := range options {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(options)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %-10s %s", o.Quant, o.Files[0])
	}
	if b.Len() == 0 {
		return ""
	}
	return "; there are" + b.String()
}
