package pull

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress tells how far a download is: in one line that is written anew on a
// terminal, in a line now and then elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	name     string
	total    int64 // -1 is unknown

	done  int64
	from  int64 // done when it began
	begin time.Time
	last  time.Time // when something was shown
	open  bool      // a line without its end is on the terminal
}

func newProgress(out io.Writer, terminal bool, name string, total int64) *progress {
	return &progress{out: out, terminal: terminal, name: name, total: total}
}

// set says that n bytes are there.
func (p *progress) set(n int64) {
	now := time.Now()
	if n < p.done || p.begin.IsZero() {
		p.from, p.begin = n, now
		p.last = now
	}
	p.done = n
	pause := 10 * time.Second
	if p.terminal {
		pause = 200 * time.Millisecond
	}
	if now.Sub(p.last) >= pause {
		p.last = now
		p.show(now)
	}
}

// end shows the last figures.
func (p *progress) end() {
	if p.done > 0 {
		p.show(time.Now())
	}
	if p.open {
		fmt.Fprintln(p.out)
		p.open = false
	}
}

// remark writes a line of its own.
func (p *progress) remark(format string, args ...any) {
	if p.open {
		fmt.Fprintln(p.out)
		p.open = false
	}
	fmt.Fprintf(p.out, format+"\n", args...)
}

func (p *progress) show(now time.Time) {
	rate := float64(p.done-p.from) / max(now.Sub(p.begin).Seconds(), 0.001)
	line := fmt.Sprintf("%s  %s  %s/s", p.name, bytesText(p.done), bytesText(int64(rate)))
	if p.total > 0 {
		line = fmt.Sprintf("%s  %s %3d%%  %s of %s  %s/s", p.name, bar(p.done, p.total), 100*p.done/p.total, bytesText(p.done), bytesText(p.total), bytesText(int64(rate)))
		if left := time.Duration(float64(p.total-p.done) / max(rate, 1) * float64(time.Second)); left > 0 && left < 100*time.Hour {
			line += fmt.Sprintf("  %s left", left.Round(time.Second))
		}
	}
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
		p.open = true
		return
	}
	fmt.Fprintln(p.out, line)
}

// bar draws how much of total is done.
func bar(done, total int64) string {
	const width = 20
	n := int(done * width / total)
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}

// bytesText is a number of bytes for people.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
}
