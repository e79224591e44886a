package frame

import (
	"errors"
	"fmt"
	"io"
)

// DefaultMax is the longest frame, in bytes with its delimiters, that a Reader
// accepts unless told otherwise.
const DefaultMax = 8 << 20

const (
	firstBuffer   = 4 << 10
	maxEmptyReads = 100
)

// ErrTooLong says that a frame is longer than the Reader's limit. The error
// that wraps it names the limit.
var ErrTooLong = errors.New("frame too long")

// Reader cuts what it reads into frames. Its buffer holds the unread rest of
// one read and the frame that is being gathered, and no more. It is used by one
// goroutine.
type Reader struct {
	src  io.Reader
	kind Kind
	max  int

	buf      []byte
	pos, end int   // buf[pos:end] has been read and is no part of a delivered frame
	off      int   // buf[pos:pos+off] has been looked at and need not be again
	err      error // why there is nothing more to read

	started bool  // past the place of a byte order mark
	ready   bool  // frame is the next one
	frame   Frame // cut by Buffered or Next
	marks   marks
	events  eventState
	values  valueState
}

// NewReader returns a Reader of the frames of one answer. A frame of more than
// maxFrame bytes is an error; 0 or less means DefaultMax.
func NewReader(kind Kind, r io.Reader, maxFrame int) *Reader {
	if maxFrame <= 0 {
		maxFrame = DefaultMax
	}
	f := &Reader{src: r, kind: kind, max: maxFrame, started: kind == Raw || kind == AWS || kind == GRPC}
	switch kind {
	case SSE:
		f.marks = marks{'\n', '\r'}
	case JSON:
		f.marks = marks{'"', '\\'}
	default:
		f.marks = marks{'\n', 0}
	}
	return f
}

// Next returns the next frame. Its errors are final: io.EOF after a proper end,
// io.ErrUnexpectedEOF if that end was in the middle of a frame, ErrTooLong, and
// whatever else the source failed with; a partial frame is then not delivered.
func (r *Reader) Next() (Frame, error) {
	for !r.Buffered() {
		if r.err == nil {
			r.fill()
			continue
		}
		if r.err != io.EOF {
			return Frame{}, r.err
		}
		r.last()
		if !r.ready {
			return Frame{}, r.err
		}
	}
	r.ready = false
	return r.frame, nil
}

// Buffered reports whether Next would return a frame without reading. It leaves
// the data of the frame returned last as it is.
func (r *Reader) Buffered() bool {
	if r.ready || r.pos == r.end || !r.started && !r.skipBOM() {
		return r.ready
	}
	switch r.kind {
	case SSE:
		r.cutEvent()
	case JSON:
		r.cutValue()
	case NDJSON:
		r.cutRecord()
	case Lines:
		r.cutLine()
	case Raw:
		r.deliver("", r.rest(), r.end-r.pos)
	case AWS:
		r.cutMessage()
	case GRPC:
		r.cutPrefixed()
	}
	return r.ready
}

// last delivers what came before a proper end without its delimiter, or finds
// that the end is no proper one.
func (r *Reader) last() {
	switch r.kind {
	case SSE:
		r.lastEvent()
	case JSON:
		r.lastValue()
	case NDJSON:
		r.lastRecord()
	case AWS, GRPC:
		r.lastMessage()
	case Lines, Whole:
		if r.pos < r.end {
			r.deliver("", r.rest(), r.end-r.pos)
		}
	}
}

// rest returns what has been read and not delivered.
func (r *Reader) rest() []byte { return r.buf[r.pos:r.end] }

// advance drops the first n bytes of the rest.
func (r *Reader) advance(n int) { r.pos, r.off = r.pos+n, 0 }

// deliver makes data, a part of the first n bytes of the rest, the next frame.
func (r *Reader) deliver(event string, data []byte, n int) {
	if n > r.max && r.kind != Raw {
		r.tooLong()
		return
	}
	r.frame, r.ready = Frame{Event: event, Data: data}, true
	r.advance(n)
}

func (r *Reader) tooLong() {
	r.fail(fmt.Errorf("%w: more than the limit of %d bytes", ErrTooLong, r.max))
}

// fail ends the reading, whatever is still in the buffer.
func (r *Reader) fail(err error) {
	r.err = err
	r.advance(r.end - r.pos)
}

// fill reads once more. The rest moves to the front only when there is no room
// behind it, and the buffer grows only when it holds nothing else, so each byte
// is moved a bounded number of times.
func (r *Reader) fill() {
	if r.end-r.pos > r.max {
		r.tooLong()
		return
	}
	switch {
	case r.pos == r.end:
		r.pos, r.end = 0, 0
	case r.end == len(r.buf) && r.pos > 0:
		r.end = copy(r.buf, r.rest())
		r.pos = 0
	}
	if r.end == len(r.buf) {
		grown := make([]byte, min(max(firstBuffer, 2*len(r.buf)), r.max+firstBuffer))
		copy(grown, r.buf)
		r.buf = grown
	}
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// skipBOM drops a byte order mark at the start of the answer and reports
// whether it is known by now that none is left.
func (r *Reader) skipBOM() bool {
	const bom = "\xef\xbb\xbf"
	rest := r.rest()
	n := 0
	for n < len(bom) && n < len(rest) && rest[n] == bom[n] {
		n++
	}
	switch {
	case n == len(bom):
		r.advance(n)
	case n == len(rest) && r.err == nil:
		return false
	}
	r.started = true
	return true
}
