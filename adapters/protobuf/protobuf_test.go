package protobuf

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// walk shows the fields of a message: "number:bytes" or "number=bits".
func walk(message []byte) (string, error) {
	var b strings.Builder
	f := Read(message)
	for f.Next() {
		if f.Bytes != nil {
			fmt.Fprintf(&b, "%d:%q ", f.Number, f.Bytes)
		} else {
			fmt.Fprintf(&b, "%d=%x ", f.Number, f.Int)
		}
	}
	if f.Next() {
		return "", fmt.Errorf("a field after the last")
	}
	return strings.TrimSpace(b.String()), f.Err()
}

func TestReadWhatIsWritten(t *testing.T) {
	m := AppendText(nil, 1, "杭")
	m = AppendBytes(m, 2, []byte{})
	m = AppendInt(m, 3, -1)
	m = AppendBool(m, 4, true)
	m = AppendBool(m, 5, false)
	m = AppendFloat(m, 6, 0.5)
	m = AppendEntry(m, 1000, "k", AppendInt(nil, 2, 300))
	want := `1:"杭" 2:"" 3=ffffffffffffffff 4=1 5=0 6=3f000000 1000:"\n\x01k\x12\x03\x10\xac\x02"`
	if got, err := walk(m); got != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestReadWhatOthersWrite(t *testing.T) {
	m := protowire.AppendTag(nil, 1, protowire.StartGroupType)
	m = AppendText(m, 2, "in a group")
	m = protowire.AppendTag(m, 1, protowire.EndGroupType)
	m = protowire.AppendFixed64(protowire.AppendTag(m, 3, protowire.Fixed64Type), 1<<40)
	if got, err := walk(m); got != "3=10000000000" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestBrokenMessages(t *testing.T) {
	whole := AppendInt(AppendText(nil, 1, "text"), 2, 1)
	for n := range whole {
		if _, err := walk(whole[:n]); err == nil && n > 0 && n != 6 { // 6: behind the first field
			t.Errorf("the first %d bytes were taken for a message", n)
		}
	}
	for _, bad := range []string{
		"\x0c",                 // the end of a group that has not begun
		"\x0b\x12\x00",         // a group without an end
		"\x0e",                 // an unknown type
		"\x00\x00",             // field 0
		"\x0a\xff\xff\xff\xff", // a length that is cut
		"\x0a\xff\xff\xff\xff\x7f", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
		strings.Repeat("\x0b", 20000), // groups in groups
	} {
		if got, err := walk([]byte(bad)); err == nil {
			t.Errorf("%.20q: got %s", bad, got)
		}
	}
}

func TestNothingAllocated(t *testing.T) {
	m := AppendInt(AppendText(AppendText(nil, 1, "text"), 2, "more"), 3, 7)
	n := testing.AllocsPerRun(100, func() {
		for f := Read(m); f.Next(); {
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzRead holds for any bytes: the walk ends, no field is read that is not
// there, and what was read whole is the same when it is written again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("\x0a\x04text\x10\x01\x1d\x00\x00\x00\x3f"))
	f.Add([]byte("\x0b\x12\x00\x0c"))
	f.Fuzz(func(t *testing.T, message []byte) {
		var again []byte
		r := Read(message)
		for r.Next() {
			if r.Number < 1 {
				t.Fatalf("field %d", r.Number)
			}
			if r.Bytes != nil {
				again = AppendBytes(again, r.Number, r.Bytes)
			} else {
				again = AppendInt(again, r.Number, int64(r.Int))
			}
		}
		second, err := walk(again)
		if first, firstErr := walk(message); first != second && firstErr == nil || err != nil {
			t.Errorf("%q: got %s, %v; written again %s", message, first, err, second)
		}
	})
}
