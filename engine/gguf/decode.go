package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds that no sane file reaches.
const (
	maxKey     = 1 << 16
	maxText    = 256     // of a text that is kept, and of a tensor's name
	maxValues  = 1 << 16 // pairs of metadata
	maxTensors = 1 << 20
	alignment  = 32 // of the weights, unless the file says otherwise
)

// decoder walks a header. size bounds what lengths in it may be.
type decoder struct {
	r     *bufio.Reader
	read  int64
	size  int64
	align uint64
	meta  metadata

	tensors    uint64
	weights    uint64 // bytes
	parameters uint64
	end        uint64 // of the data, from its beginning
	last       string // the tensor that ends there
	layers     []layer
	vocab      uint64
	experts    bool
}

// header reads all of the header: counts, metadata, and the list of tensors.
func (d *decoder) header() error {
	if err := d.skip(8); err != nil {
		return err
	}
	tensors, err := d.uint64()
	if err != nil {
		return err
	}
	values, err := d.uint64()
	if err != nil {
		return err
	}
	if tensors > maxTensors || values > maxValues {
		return fmt.Errorf("the file is damaged: it claims %d tensors and %d values of metadata", tensors, values)
	}
	for range values {
		if err := d.pair(); err != nil {
			return err
		}
	}
	if d.meta.text("general.architecture") == "" && d.meta.number("split.no") == 0 {
		return errors.New("the file does not name an architecture (general.architecture)")
	}
	for range tensors {
		if err := d.tensor(); err != nil {
			return err
		}
	}
	if tensors == 0 {
		return errors.New("the file holds no weights (a vocabulary alone?)")
	}
	return d.checkEnd()
}

// checkEnd reports ErrTruncated if the tensors' data goes on beyond the end.
func (d *decoder) checkEnd() error {
	start := (uint64(d.read) + d.align - 1) / d.align * d.align
	if size := uint64(d.size); start > size || d.end > size-start {
		return fmt.Errorf("%w: tensor %s ends at byte %d, and the file at %d", ErrTruncated, d.last, start+d.end, size)
	}
	return nil
}

// info gathers what was read.
func (d *decoder) info() *Info {
	i := &Info{
		Architecture: d.meta.text("general.architecture"),
		Name:         d.meta.text("general.name"),
		Parameters:   d.parameters, Weights: d.weights, Size: d.size,
		meta: d.meta, layers: d.layers, vocab: d.vocab, experts: d.experts, tensors: int(d.tensors),
	}
	i.Context = int(i.number("context_length"))
	i.Layers = int(min(i.number("block_count"), maxLayers))
	if t, ok := d.meta["general.file_type"]; ok {
		i.Quantization = fileTypes[t.number()]
	}
	return i
}

func (d *decoder) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	k, err := io.ReadFull(d.r, b)
	d.read += int64(k)
	return b, err
}

func (d *decoder) uint32() (uint32, error) {
	b, err := d.bytes(4)
	return binary.LittleEndian.Uint32(b), err
}

func (d *decoder) uint64() (uint64, error) {
	b, err := d.bytes(8)
	return binary.LittleEndian.Uint64(b), err
}

// string reads a string of at most limit bytes.
func (d *decoder) string(limit uint64) (string, error) {
	n, err := d.uint64()
	if err != nil {
		return "", err
	}
	if n > limit {
		return "", fmt.Errorf("the file is damaged: it has a name of %d bytes at byte %d", n, d.read-8)
	}
	b, err := d.bytes(int(n))
	return string(b), err
}

func (d *decoder) skip(n int64) error {
	if n > d.size-d.read {
		return ErrTruncated
	}
	for n > 0 {
		k, err := d.r.Discard(int(min(n, 1<<20)))
		d.read += int64(k)
		n -= int64(k)
		if err != nil {
			return err
		}
	}
	return nil
}
