package pull

import (
	"context"
	"fmt"
	"os"
	"time"
)

// lock waits until no other download has the file at path, and takes it. The
// system frees it when the process ends, however it does.
func (p *puller) lock(ctx context.Context, path, name string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", name, err)
	}
	unlock = func() { f.Close() }
	for waited := false; !tryLock(f); waited = true {
		if !waited {
			fmt.Fprintf(p.Out, "%s is being downloaded already; waiting for that\n", name)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			unlock()
			return nil, fmt.Errorf("%s was not downloaded: stopped", name)
		}
	}
	return unlock, nil
}
