package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Types of metadata values, as the format numbers them.
const (
	typeString = 8
	typeArray  = 9
)

// sizes of the fixed-size types by number; 0 is a type of another kind.
var sizes = [13]int64{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}

// Bounds that no sane file reaches.
const (
	maxKey    = 1 << 16
	maxName   = 256 // of an architecture
	maxDims   = 8
	alignment = 32 // of the weights, unless the file says otherwise
)

// decoder walks a header. size bounds what lengths in it may be.
type decoder struct {
	r     *bufio.Reader
	read  int64
	size  int64
	arch  string
	align uint64
}

// header reads all of the header: counts, metadata, and the list of tensors.
func (d *decoder) header() (Info, error) {
	d.align = alignment
	if err := d.skip(8); err != nil {
		return Info{}, err
	}
	tensors, err := d.uint64()
	if err != nil {
		return Info{}, err
	}
	values, err := d.uint64()
	if err != nil {
		return Info{}, err
	}
	for range values {
		if err := d.pair(); err != nil {
			return Info{}, err
		}
	}
	if d.arch == "" {
		return Info{}, errors.New("the file does not name an architecture (general.architecture)")
	}
	var last uint64
	for range tensors {
		offset, err := d.tensor()
		if err != nil {
			return Info{}, err
		}
		last = max(last, offset)
	}
	if tensors == 0 {
		return Info{}, errors.New("the file holds no weights (a vocabulary alone?)")
	}
	return Info{Architecture: d.arch}, d.checkEnd(last)
}

// checkEnd reports ErrTruncated if the last tensor would begin beyond the end.
func (d *decoder) checkEnd(last uint64) error {
	start := (uint64(d.read) + d.align - 1) / d.align * d.align
	if last >= uint64(d.size) || start+last >= uint64(d.size) {
		return ErrTruncated
	}
	return nil
}

// pair reads one metadata key and its value.
func (d *decoder) pair() error {
	key, err := d.string(maxKey)
	if err != nil {
		return err
	}
	kind, err := d.uint32()
	if err != nil {
		return err
	}
	switch {
	case key == "general.architecture" && kind == typeString:
		d.arch, err = d.string(maxName)
		return err
	case key == "general.alignment" && kind == 4:
		n, err := d.uint32()
		if err == nil && n == 0 {
			return errors.New("the file is damaged: its alignment is 0")
		}
		d.align = uint64(n)
		return err
	}
	return d.value(kind, 0)
}

// value passes over a value. Arrays may hold arrays.
func (d *decoder) value(kind uint32, depth int) error {
	switch {
	case kind == typeString:
		return d.skipString()
	case kind == typeArray && depth < 4:
		of, err := d.uint32()
		if err != nil {
			return err
		}
		n, err := d.uint64()
		if err != nil {
			return err
		}
		return d.array(of, n, depth)
	case kind < uint32(len(sizes)) && sizes[kind] > 0:
		return d.skip(sizes[kind])
	}
	return fmt.Errorf("the file is damaged: it has a value of unknown type %d", kind)
}

func (d *decoder) array(of uint32, n uint64, depth int) error {
	if n > uint64(d.size) {
		return ErrTruncated
	}
	if of < uint32(len(sizes)) && sizes[of] > 0 {
		return d.skip(int64(n) * sizes[of])
	}
	for range n {
		if err := d.value(of, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// tensor reads a tensor's description and returns where its data begins.
func (d *decoder) tensor() (offset uint64, err error) {
	if err := d.skipString(); err != nil {
		return 0, err
	}
	dims, err := d.uint32()
	if err != nil {
		return 0, err
	}
	if dims > maxDims {
		return 0, fmt.Errorf("the file is damaged: it has a tensor of %d dimensions", dims)
	}
	if err := d.skip(int64(dims)*8 + 4); err != nil {
		return 0, err
	}
	return d.uint64()
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
		return "", fmt.Errorf("the file is damaged: it has a name of %d bytes", n)
	}
	b, err := d.bytes(int(n))
	return string(b), err
}

func (d *decoder) skipString() error {
	n, err := d.uint64()
	if err != nil {
		return err
	}
	if n > uint64(d.size) {
		return ErrTruncated
	}
	return d.skip(int64(n))
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
