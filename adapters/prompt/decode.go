package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ardanlabs/jinja"
)

const maxJSONDepth = 128

// decode turns JSON into a value that keeps the order of keys and tells 2 from
// 2.0, as Python does. text is applied to every string and key.
func decode(data []byte, text func(string) string) (jinja.Value, error) {
	d := decoder{json.NewDecoder(bytes.NewReader(data)), text}
	d.UseNumber()
	v, err := d.value(maxJSONDepth)
	if err != nil {
		return v, fmt.Errorf("decoding json: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return v, errors.New("decoding json: more than one value")
	}
	return v, nil
}

type decoder struct {
	*json.Decoder
	text func(string) string
}

func (d decoder) value(depth int) (jinja.Value, error) {
	token, err := d.Token()
	if err != nil {
		return jinja.Undefined(), err
	}
	switch x := token.(type) {
	case json.Delim:
		if depth == 0 {
			return jinja.Undefined(), errors.New("nested too deep")
		}
		if x == '[' {
			return d.list(depth - 1)
		}
		return d.dict(depth - 1)
	case string:
		return jinja.NewString(d.text(x)), nil
	}
	return jinja.FromGoValue(token), nil // a number, a bool or null
}

func (d decoder) list(depth int) (jinja.Value, error) {
	items := []jinja.Value{}
	for d.More() {
		v, err := d.value(depth)
		if err != nil {
			return v, err
		}
		items = append(items, v)
	}
	_, err := d.Token()
	return jinja.NewList(items), err
}

func (d decoder) dict(depth int) (jinja.Value, error) {
	value := jinja.NewDict()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return value, err
		}
		v, err := d.value(depth)
		if err != nil {
			return v, err
		}
		// The JSON decoder lets nothing but a string stand here.
		value.AsDict().Set(d.text(key.(string)), v)
	}
	_, err := d.Token()
	return value, err
}
