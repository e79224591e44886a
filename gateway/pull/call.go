package pull

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// passing is a failure that may be over at the next try.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// refused is a server's no, in words for people.
type refused struct{ error }

// request makes a GET for a host that may see token.
func (p *puller) request(ctx context.Context, address, token string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "dragoman")
	req.Header.Set("Accept-Encoding", "identity") // sizes and ranges are the file's
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// call asks for what is missing and takes what comes.
func (d *download) call(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := d.request(ctx, d.file.url, d.file.token)
	if err != nil {
		return err
	}
	if d.have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.have))
		if note, _ := os.ReadFile(d.tag); d.file.sha256 == "" {
			req.Header.Set("If-Range", string(note))
		}
	}
	res, err := d.Client.Do(req)
	if err != nil {
		return passing{clean(err)}
	}
	defer res.Body.Close()
	if err := d.accept(res); err != nil {
		return err
	}
	return d.take(res.Body, cancel)
}

// accept looks at the head of an answer and makes the part file fit it.
func (d *download) accept(res *http.Response) error {
	switch {
	case res.StatusCode == http.StatusOK:
		if d.have > 0 { // the server knows no ranges, or has another file now
			if err := d.reset(); err != nil {
				return err
			}
		}
		if !d.announced {
			d.file.size = res.ContentLength
			d.show.total = res.ContentLength
		} else if res.ContentLength >= 0 && res.ContentLength != d.file.size {
			return fmt.Errorf("%w: the server has %d bytes, and it should be %d", errMismatch, res.ContentLength, d.file.size)
		}
		return d.remember(res.Header.Get("ETag"))
	case res.StatusCode == http.StatusPartialContent:
		start, total, ok := contentRange(res.Header.Get("Content-Range"))
		if !ok || start != d.have {
			return fmt.Errorf("%w: asked for what begins at byte %d, the server gives %q", errMismatch, d.have, res.Header.Get("Content-Range"))
		}
		if d.file.size < 0 {
			d.file.size = total
			d.show.total = total
		} else if total >= 0 && total != d.file.size {
			return fmt.Errorf("%w: the server has %d bytes, and it should be %d", errMismatch, total, d.file.size)
		}
		return nil
	case res.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(passing{errors.New("the server's file is shorter than what is here")}, d.reset())
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500 || res.StatusCode == http.StatusRequestTimeout:
		return passing{fmt.Errorf("the server says %s", res.Status)}
	}
	if d.file.refuse != nil {
		if err := d.file.refuse(res.StatusCode, res.Header.Get); err != nil {
			return refused{err}
		}
	}
	return fmt.Errorf("the server says %s", res.Status)
}

// remember notes what the part file is the beginning of, where no checksum
// tells. Weak tags do not stand for bytes.
func (d *download) remember(etag string) error {
	if d.file.sha256 != "" || etag == "" || strings.HasPrefix(etag, "W/") {
		return nil
	}
	return os.WriteFile(d.tag, []byte(etag), 0o644)
}

// contentRange reads "bytes 5-9/10"; total is -1 where the server does not say.
func contentRange(s string) (start, total int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	span, all, found := strings.Cut(s, "/")
	first, _, dash := strings.Cut(span, "-")
	start, err := strconv.ParseInt(first, 10, 64)
	if !ok || !found || !dash || err != nil || start < 0 {
		return 0, 0, false
	}
	if total, err = strconv.ParseInt(all, 10, 64); err != nil || total < 0 {
		total = -1
	}
	return start, total, true
}

// take writes a body to the part file. It gives up on a server that falls silent.
func (d *download) take(body io.Reader, cancel func()) error {
	if _, err := d.out.Seek(d.have, io.SeekStart); err != nil {
		return err
	}
	silent := time.AfterFunc(d.stall, cancel)
	defer silent.Stop()
	buf := make([]byte, 1<<18)
	for {
		n, err := body.Read(buf)
		silent.Reset(d.stall)
		if n > 0 && d.file.size >= 0 && d.have+int64(n) > d.file.size {
			return fmt.Errorf("%w: the server sends more than %d bytes", errMismatch, d.file.size)
		}
		written, failed := d.out.Write(buf[:n])
		d.hash.Write(buf[:written])
		d.have += int64(written)
		d.show.set(d.have)
		switch {
		case failed != nil:
			return failed
		case err == io.EOF:
			return d.whole()
		case err != nil:
			return passing{fmt.Errorf("the connection was cut: %w", clean(err))}
		}
	}
}

// whole reports whether the end of a body is the end of the file.
func (d *download) whole() error {
	if d.file.size >= 0 && d.have < d.file.size {
		return passing{fmt.Errorf("the connection was cut after %d of %d bytes", d.have, d.file.size)}
	}
	return nil
}

// clean takes the address out of an error: a signed one is a secret.
func clean(err error) error {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
