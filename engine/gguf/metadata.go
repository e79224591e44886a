package gguf

import (
	"fmt"
	"slices"
	"strings"
)

// metadata holds the values that are of use here by their keys.
type metadata map[string]value

// value is a text, or numbers: one, or those of an array.
type value struct {
	text    string
	numbers []uint64
}

// kept are the keys that are of use, without what stands before the first dot.
var kept = strings.Fields(`architecture name file_type alignment no count tensors.count
	context_length block_count embedding_length feed_forward_length expert_count expert_used_count expert_feed_forward_length
	attention.head_count attention.head_count_kv attention.key_length attention.value_length attention.key_length_mla
	attention.shared_kv_layers full_attention_interval
	pooling_type ssm.conv_kernel ssm.inner_size ssm.state_size ssm.group_count wkv.head_size shortconv.l_cache`)

// number returns the number, or the first of them, or 0.
func (v value) number() uint64 {
	if len(v.numbers) == 0 {
		return 0
	}
	return v.numbers[0]
}

// maxNumber is more than any dimension of a model.
const maxNumber = 1 << 24

func (m metadata) text(key string) string   { return m[key].text }
func (m metadata) number(key string) uint64 { return m[key].number() }

// number returns what the architecture's metadata says under key, within
// reason, or 0.
func (i *Info) number(key string) uint64 {
	return min(i.meta.number(i.Architecture+"."+key), maxNumber)
}

// at returns what the architecture's metadata says for a layer: its element of
// an array, or the one number for all.
func (i *Info) at(key string, layer int) uint64 {
	list := i.meta[i.Architecture+"."+key].numbers
	if layer < len(list) && len(list) > 1 {
		return min(list[layer], maxNumber)
	}
	return i.number(key)
}

// Types of metadata values, as the format numbers them.
const (
	typeString = 8
	typeArray  = 9
)

var (
	signed   = [13]bool{1: true, 3: true, 5: true, 11: true}
	floating = [13]bool{6: true, 12: true}
)

// sizes of the fixed-size types by number; 0 is a type of another kind.
var sizes = [13]int64{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}

func fixed(kind uint32) bool { return kind < uint32(len(sizes)) && sizes[kind] > 0 }

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
	_, rest, _ := strings.Cut(key, ".")
	if !slices.Contains(kept, rest) {
		return d.value(key, kind, 0)
	}
	v, err := d.keep(key, kind)
	if err != nil {
		return err
	}
	d.meta[key] = v
	if key == "general.alignment" {
		if d.align = v.number(); d.align == 0 || d.align&(d.align-1) != 0 || d.align > 1<<20 {
			return fmt.Errorf("the file is damaged: its alignment is %d", d.align)
		}
	}
	return nil
}

// keep reads a value that is of use. Numbers that are too many are not.
func (d *decoder) keep(key string, kind uint32) (v value, err error) {
	switch {
	case kind == typeString:
		n, err := d.uint64()
		if err != nil {
			return v, err
		}
		if n > maxText {
			return v, d.skipLong(n)
		}
		b, err := d.bytes(int(n))
		return value{text: string(b)}, err
	case fixed(kind):
		v.numbers, err = d.numbers(kind, 1)
		return v, err
	case kind != typeArray:
		return v, d.value(key, kind, 0)
	}
	of, n, err := d.arrayHead()
	if err != nil {
		return v, err
	}
	if !fixed(of) || n > maxLayers {
		return v, d.array(key, of, n, 0)
	}
	v.numbers, err = d.numbers(of, int(n))
	return v, err
}

// numbers reads n numbers. Floating ones are of no use here and become 0,
// negative ones too.
func (d *decoder) numbers(kind uint32, n int) ([]uint64, error) {
	list := make([]uint64, n)
	for i := range list {
		b, err := d.bytes(int(sizes[kind]))
		if err != nil {
			return nil, err
		}
		for j, c := range b {
			list[i] |= uint64(c) << (8 * j)
		}
		if floating[kind] || signed[kind] && b[len(b)-1] >= 0x80 {
			list[i] = 0
		}
	}
	return list, nil
}

// value passes over a value. Arrays may hold arrays.
func (d *decoder) value(key string, kind uint32, depth int) error {
	switch {
	case kind == typeString:
		n, err := d.uint64()
		if err != nil {
			return err
		}
		return d.skipLong(n)
	case kind == typeArray && depth < 4:
		of, n, err := d.arrayHead()
		if err != nil {
			return err
		}
		return d.array(key, of, n, depth)
	case fixed(kind):
		return d.skip(sizes[kind])
	}
	return fmt.Errorf("the file is damaged: %s has a value of unknown type %d", quoted(key), kind)
}

func (d *decoder) arrayHead() (of uint32, n uint64, err error) {
	if of, err = d.uint32(); err != nil {
		return 0, 0, err
	}
	n, err = d.uint64()
	return of, n, err
}

func (d *decoder) array(key string, of uint32, n uint64, depth int) error {
	left := uint64(d.size - d.read)
	if fixed(of) && n <= left/uint64(sizes[of]) {
		return d.skip(int64(n) * sizes[of])
	}
	if n > left || fixed(of) {
		return ErrTruncated
	}
	for range n {
		if err := d.value(key, of, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// skipLong passes over n bytes.
func (d *decoder) skipLong(n uint64) error {
	if n > uint64(d.size) {
		return ErrTruncated
	}
	return d.skip(int64(n))
}

// quoted returns a name from a file for a message: bounded, and escaped.
func quoted(s string) string { return fmt.Sprintf("%.80q", s) }
