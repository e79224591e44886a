package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	f := func(text string, want Ref) {
		t.Helper()
		want.Text = text
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	f("smollm2", Known["smollm2"])
	f("hf:a/b", Ref{Owner: "a", Name: "b"})
	f("hf:a/b:Q4_K_M", Ref{Owner: "a", Name: "b", Quant: "Q4_K_M"})
	f("hf.co/a/b-GGUF:q8_0", Ref{Owner: "a", Name: "b-GGUF", Quant: "q8_0"})
	f("hf:a/b/c/d.gguf", Ref{Owner: "a", Name: "b", File: "c/d.gguf"})
	f("https://huggingface.co/a/b/resolve/main/d.gguf?download=true", Ref{Owner: "a", Name: "b", File: "d.gguf"})
	f("https://huggingface.co/a/b/blob/main/d.gguf", Ref{Owner: "a", Name: "b", File: "d.gguf"})
	f("https://huggingface.co/a/b", Ref{Owner: "a", Name: "b"})
	f("http://h:81/x/m.gguf?x=1", Ref{URL: "http://h:81/x/m.gguf?x=1"})
	f("./smollm2", Ref{Path: "./smollm2"})
	f("a/b", Ref{Path: "a/b"})
	for _, bad := range []string{
		"", "hf:", "hf:a", "hf:a/", "hf:/b", "hf:../b", "hf:a/..", "hf:a b/c", "hf:a/b:", "hf:a/b:x y", "hf:a/b/c.bin", "hf:a/b/../c.gguf",
		"hf:a/b//c.gguf", `hf:a/b/c\d.gguf`, "hf:a/b/c:d.gguf", "hf:a/b/\x1b.gguf", "https://h/x.bin", "https:///x.gguf", "https://h/..",
	} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("hf:a/b/c.gguf")
	f.Add("http://h/x.gguf?y")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil || r.Path != "" {
			return
		}
		place := r.Owner + "/" + r.Name + "/" + r.File
		if r.URL != "" {
			place = r.Place()
		}
		if !filepath.IsLocal(filepath.FromSlash(strings.TrimSuffix(place, "/"))) {
			t.Errorf("%q would be put at %s", text, place)
		}
	})
}

func TestPlace(t *testing.T) {
	if got := (Ref{URL: "http://me:secret@h:81/x/m.gguf?x=1"}).Place(); got != "h_81/m.gguf" {
		t.Errorf("got %s", got)
	}
}

func TestChoose(t *testing.T) {
	many := []string{"README.md", "m-Q2_K.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-m-f16.gguf", "m.imatrix.gguf"}
	parts := []string{"BF16/m-BF16-00001-of-00002.gguf", "BF16/m-BF16-00002-of-00002.gguf", "Q6_K/m-00001-of-00002.gguf", "m-UD-Q4_K_XL.gguf"}
	f := func(files []string, quant, file string, want ...string) {
		t.Helper()
		got, err := Choose(files, Ref{Owner: "a", Name: "b", Quant: quant, File: file})
		if err != nil || strings.Join(got.Files, " ") != strings.Join(want, " ") {
			t.Errorf("%q %q: got %v, %v, want %v", quant, file, got.Files, err, want)
		}
	}
	f(many, "", "", "m-Q4_K_M.gguf")
	f(many, "q2_k", "", "m-Q2_K.gguf")
	f(many, "", "m-Q8_0.gguf", "m-Q8_0.gguf")
	f([]string{"m.Q5_0.gguf", "m.q8_0.gguf"}, "", "", "m.q8_0.gguf")
	f([]string{"m.gguf"}, "", "", "m.gguf")
	f([]string{"model-iq2_xxs.gguf", "x.gguf"}, "IQ2_XXS", "", "model-iq2_xxs.gguf")
	f(parts, "BF16", "", parts[0], parts[1])
	f(parts, "", parts[1], parts[0], parts[1])
	f(parts, "Q4_K_XL", "", "m-UD-Q4_K_XL.gguf")
	bad := func(files []string, quant, file, want string) {
		t.Helper()
		if got, err := Choose(files, Ref{Owner: "a", Name: "b", Quant: quant, File: file}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want %q", got, err, want)
		}
	}
	bad(nil, "", "", "a/b has no GGUF model")
	bad([]string{"m-Q2_K.gguf", "m-Q3_K.gguf"}, "", "", "a/b has several models, say which: hf:a/b:QUANT; there are\n  Q2_K       m-Q2_K.gguf\n  Q3_K ")
	bad(many, "Q5_K_M", "", "a/b has no Q5_K_M; there are\n  Q2_K ")
	bad([]string{"a-Q8_0.gguf", "b-Q8_0.gguf"}, "", "", "has several files of Q8_0, say which: hf:a/b/FILE; there are\n  Q8_0       a-Q8_0.gguf")
	bad(parts, "Q6_K", "", "a/b has no Q6_K") // a part is missing
	bad(many, "", "m.gguf", "has no whole model in m.gguf; there are")
	bad([]string{"../m.gguf", "/etc/m.gguf", "a\x1b.gguf"}, "", "", "no GGUF model")
}

// folder makes models in a folder of their own.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("model"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	smol := Known["smollm2"]
	dir := folder(t, smol.Owner+"/"+smol.Name+"/"+smol.File, "a/b/m-Q2_K.gguf", "a/b/m-Q8_0.gguf.part", "h_81/m.gguf",
		"a/parts/m-Q4_0-00001-of-00002.gguf", "a/whole/m-00001-of-00002.gguf", "a/whole/m-00002-of-00002.gguf", "a/two/x-Q2_K.gguf", "a/two/x-Q3_K.gguf")
	f := func(text, want string) {
		t.Helper()
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Find(dir, r)
		if rest, ok := strings.CutPrefix(want, "error: "); ok {
			if err == nil || !strings.Contains(err.Error(), rest) {
				t.Errorf("%s: got %s, %v, want %q", text, got, err, rest)
			}
			return
		}
		if want = strings.Replace(want, "DIR", dir, 1); err != nil || filepath.ToSlash(got) != filepath.ToSlash(want) {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
	f("smollm2", "DIR/"+smol.Owner+"/"+smol.Name+"/"+smol.File)
	f("hf:a/b", "DIR/a/b/m-Q2_K.gguf")
	f("hf:a/b:q2_k", "DIR/a/b/m-Q2_K.gguf")
	f("http://h:81/x/m.gguf", "DIR/h_81/m.gguf")
	f("/some/where.gguf", "/some/where.gguf")
	f("hf:a/whole", "DIR/a/whole/m-00001-of-00002.gguf")
	f("hf:a/b:Q8_0", "error: a/b has no Q8_0; there are\n  Q2_K       m-Q2_K.gguf; dragoman pull hf:a/b:Q8_0 downloads it")
	f("hf:a/c", "error: hf:a/c is not downloaded: dragoman pull hf:a/c")
	f("hf:a/parts", "error: a/parts has no GGUF model; dragoman pull hf:a/parts downloads it")
	f("hf:a/two", "error: several models")
	f("http://h/m.gguf", "error: http://h/m.gguf is not downloaded: dragoman pull http://h/m.gguf")
}

func TestListAndRemove(t *testing.T) {
	smol := Known["smollm2"]
	dir := folder(t, smol.Owner+"/"+smol.Name+"/"+smol.File, "a/b/m-00001-of-00002.gguf", "a/b/m-00002-of-00002.gguf", "a/b/x.gguf.part", "h/m.gguf")
	list, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.Name)
	}
	if want := "smollm2 hf:a/b/m-00001-of-00002.gguf " + filepath.Join(dir, "h", "m.gguf"); strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if m := list[1]; m.Size != 10 || len(m.Files) != 2 {
		t.Errorf("got %+v", m)
	}
	if err := Remove(dir, list[0]); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir, list[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, smol.Owner)); !os.IsNotExist(err) {
		t.Errorf("an empty folder stays: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a", "b", "x.gguf.part")); err != nil {
		t.Errorf("another download is gone: %v", err)
	}
	if list, err := List(filepath.Join(dir, "nowhere")); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
}

func TestDir(t *testing.T) {
	t.Setenv("DRAGOMAN_MODELS", "")
	t.Setenv("XDG_DATA_HOME", "/data")
	if got := Dir(); got != filepath.Join("/data", "dragoman", "models") {
		t.Errorf("got %s", got)
	}
	t.Setenv("DRAGOMAN_MODELS", "/m")
	if got := Dir(); got != "/m" {
		t.Errorf("got %s", got)
	}
}
