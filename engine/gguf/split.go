package gguf

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
)

// partName is how llama.cpp names the parts of a model in several files.
var partName = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})\.gguf$`)

// firstPart returns the path of the first part of the model that path is a part
// of, and else path.
func firstPart(path string) string {
	m := partName.FindStringSubmatch(path)
	if m == nil {
		return path
	}
	first := fmt.Sprintf("%s-00001-of-%s.gguf", m[1], m[3])
	if _, err := os.Stat(first); err != nil {
		if _, err := os.Stat(path); err == nil {
			return path // to be told what it is a part of
		}
	}
	return first
}

// checkParts checks the other parts of the model of which i is the file at
// path, and adds them to i.
func (i *Info) checkParts(path string) error {
	count := i.meta.number("split.count")
	if count <= 1 {
		return nil
	}
	m := partName.FindStringSubmatch(path)
	if m == nil {
		return fmt.Errorf("%s is one of the %d parts of a model, and such files must be named NAME-00001-of-%05d.gguf", path, count, count)
	}
	if n, _ := strconv.ParseUint(m[3], 10, 64); n != count {
		return fmt.Errorf("%s is named as one of %d parts, and says that there are %d: parts of two models?", path, n, count)
	}
	for n := range count {
		file := fmt.Sprintf("%s-%05d-of-%05d.gguf", m[1], n+1, count)
		part := i
		if file != path {
			var err error
			if part, err = checkPart(file, n+1, count); err != nil {
				return err
			}
			i.add(part, file)
		}
		if no := part.meta.number("split.no"); no != n || part.meta.number("split.count") != count {
			return fmt.Errorf("%s says that it is part %d of %d: it was renamed, or belongs to another model", file, no+1, part.meta.number("split.count"))
		}
	}
	if total := i.meta.number("split.tensors.count"); total != 0 && total != uint64(i.tensors) {
		return fmt.Errorf("the parts of %s hold %d tensors, and there should be %d: parts of two models?", path, i.tensors, total)
	}
	return nil
}

func checkPart(file string, n, count uint64) (*Info, error) {
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("part %d of the model's %d parts is missing: %s", n, count, file)
	}
	return checkFile(file)
}

// add counts another part in.
func (i *Info) add(part *Info, file string) {
	i.Files = append(i.Files, file)
	i.Parameters += part.Parameters
	i.Weights += part.Weights
	i.Size += part.Size
	i.tensors += part.tensors
	i.vocab = max(i.vocab, part.vocab)
	i.experts = i.experts || part.experts
	for n, l := range part.layers {
		for len(i.layers) <= n {
			i.layers = append(i.layers, layer{})
		}
		to := &i.layers[n]
		to.attention = to.attention || l.attention
		to.recurrent = to.recurrent || l.recurrent
		to.latent = to.latent || l.latent
		to.k, to.v = max(to.k, l.k), max(to.v, l.v)
	}
}
