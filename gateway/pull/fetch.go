package pull

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// file is one to be downloaded.
type file struct {
	url    string
	token  string // sent to the url's host alone
	to     string // its path in the end
	size   int64  // bytes; -1 is unknown
	sha256 string // in hexadecimal; "" is unknown
	refuse func(status int, header func(string) string) error
}

// fetch downloads f, unless it is there. One process at a time does.
func (p *puller) fetch(ctx context.Context, f *file) error {
	name := filepath.Base(f.to)
	if err := os.MkdirAll(filepath.Dir(f.to), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", name, err)
	}
	unlock, err := p.lock(ctx, f.to+".lock", name)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(f.to); err == nil {
		_ = os.Remove(f.to + ".lock")
		fmt.Fprintf(p.Out, "%s is there already\n", name)
		return nil
	}
	d := &download{puller: p, file: f, announced: f.size >= 0, name: name, part: f.to + ".part", tag: f.to + ".part.tag"}
	if err := d.run(ctx); err != nil {
		if errors.Is(err, errMismatch) { // of no use for another try
			d.have = 0
			_, _ = os.Remove(d.part), os.Remove(d.tag)
		}
		return d.explain(ctx, err)
	}
	if err := os.Rename(d.part, f.to); err != nil {
		return fmt.Errorf("naming %s: %w", name, err)
	}
	_ = os.Remove(d.tag)
	_ = os.Remove(f.to + ".lock") // those who wait for it find the file
	return nil
}

// download is the state of one file's way here.
type download struct {
	*puller
	file *file
	// announced: the size is not the server's own word, which may change
	announced bool
	name      string
	part      string // path of what has come
	tag       string // path of a note on what it is the beginning of

	out     partial
	have    int64 // bytes in part
	hash    hash.Hash
	resumed bool // some of part came in an earlier run
	show    *progress
}

// errMismatch says that what came is not what was announced.
var errMismatch = errors.New("not what was announced")

// run fills the part file and checks it.
func (d *download) run(ctx context.Context) (err error) {
	if d.out, err = d.open(d.part); err != nil {
		return err
	}
	defer func() {
		if e := d.out.Close(); err == nil {
			err = e
		}
	}()
	d.show = newProgress(d.Out, d.Terminal, d.name, d.file.size)
	defer d.show.end()
	if err := d.begin(); err != nil {
		return err
	}
	if err := d.room(); err != nil {
		return err
	}
	err = d.receive(ctx)
	if errors.Is(err, errMismatch) && d.resumed {
		d.show.remark("%s is damaged; once more from the beginning", d.name)
		if err := d.reset(); err != nil {
			return err
		}
		err = d.receive(ctx)
	}
	if err != nil {
		return err
	}
	return d.out.Sync()
}

// begin looks at what an earlier run has left.
func (d *download) begin() error {
	d.hash = sha256.New()
	note, _ := os.ReadFile(d.tag)
	if string(note) == "" || d.file.sha256 != "" && string(note) != "sha256 "+d.file.sha256 {
		return d.reset()
	}
	if _, err := d.out.Seek(0, io.SeekStart); err != nil {
		return err
	}
	n, err := io.Copy(d.hash, d.out)
	if err != nil {
		return err
	}
	if d.file.size >= 0 && n > d.file.size {
		return d.reset()
	}
	d.have, d.resumed = n, n > 0
	d.show.set(n)
	return nil
}

// reset forgets what has come.
func (d *download) reset() error {
	d.have, d.resumed = 0, false
	d.hash.Reset()
	d.show.set(0)
	if err := d.out.Truncate(0); err != nil {
		return err
	}
	if _, err := d.out.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if d.file.sha256 != "" {
		return os.WriteFile(d.tag, []byte("sha256 "+d.file.sha256), 0o644)
	}
	err := os.Remove(d.tag)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// room reports whether the disk has it, as far as that is known.
func (d *download) room() error {
	free, ok := freeSpace(filepath.Dir(d.part))
	if need := d.file.size - d.have; ok && d.file.size >= 0 && need > 0 && uint64(need) > free {
		return fmt.Errorf("the disk is too full: %s needs %s more, and %s are free in %s", d.name, bytesText(need), bytesText(int64(free)), filepath.Dir(d.part))
	}
	return nil
}

// tries is how many failures in a row, without a byte between, end a download.
const tries = 5

// receive calls the server until all is there, again after failures that may
// pass, and checks the sum.
func (d *download) receive(ctx context.Context) error {
	for failed := 0; d.file.size < 0 || d.have < d.file.size; {
		before := d.have
		err := d.call(ctx)
		if err == nil {
			break
		}
		if d.have > before {
			failed = 0
		}
		failed++
		if !errors.As(err, new(passing)) || failed > tries || ctx.Err() != nil {
			return err
		}
		d.show.remark("%v; trying again", err)
		select {
		case <-time.After(d.pause(failed)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if d.file.size >= 0 && d.have != d.file.size {
		return fmt.Errorf("%w: %d bytes came, and it should be %d", errMismatch, d.have, d.file.size)
	}
	if sum := hex.EncodeToString(d.hash.Sum(nil)); d.file.sha256 != "" && !strings.EqualFold(sum, d.file.sha256) {
		return fmt.Errorf("%w: its sha256 is %s, and it should be %s", errMismatch, sum, d.file.sha256)
	}
	return nil
}

// explain makes an error that says what was kept.
func (d *download) explain(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s was not downloaded whole: stopped", d.name)
	case diskFull(err):
		err = fmt.Errorf("the disk is full: %s was not downloaded whole", d.name)
	case errors.As(err, new(refused)):
		return err
	default:
		err = fmt.Errorf("downloading %s: %w", d.name, err)
	}
	if d.have == 0 {
		return err
	}
	return fmt.Errorf("%w; %s of it are kept, and the same command goes on from there", err, bytesText(d.have))
}
