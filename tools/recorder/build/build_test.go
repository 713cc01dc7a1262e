package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestPluginsAreNamesWithFactories(t *testing.T) {
	for _, row := range []struct {
		source string
		want   []plugin
	}{
		{`const Name = "A"
func New(a, b, c int) (int, error) { return 0, nil }`, []plugin{{"Name", "New"}}},
		{`const ( AllocatableName = "A"; OtherName = "B" )
func NewAllocatable(a, b, c int) (int, error) { return 0, nil }`, []plugin{{"AllocatableName", "NewAllocatable"}}},
		{`var BName, AName = "B", "A"
func NewB(a int, b int, c int) (int, error) { return 0, nil }
func NewA(a int, b int, c int) (int, error) { return 0, nil }`, []plugin{{"AName", "NewA"}, {"BName", "NewB"}}},
		{`const Name = "A"
func New(a, b int) (int, error) { return 0, nil }`, nil},
		{`const Name = "A"
type T struct{}
func (T) New(a, b, c int) (int, error) { return 0, nil }`, nil},
		{`const name = "A"
func New(a, b, c int) (int, error) { return 0, nil }`, nil},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte("package p\n"+row.source), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := pluginsOf(dir)
		if !reflect.DeepEqual(got, row.want) || (err != nil) != (row.want == nil) {
			t.Errorf("%s: got %v, %v, want %v", row.source, got, err, row.want)
		}
	}
}

func TestTheRegistrationNamesEachPlugin(t *testing.T) {
	packages := []userPackage{{path: "example.com/a", version: "v1.2.3"}, {path: "example.com/b", version: "local"}}
	text := registration(packages, map[string][]plugin{"example.com/a": {{"Name", "New"}}, "example.com/b": {{"XName", "NewX"}}}, []string{"example.com/scheme"})
	for _, want := range []string{
		`with0 "example.com/a"`, `_ "example.com/scheme"`,
		`register("example.com/a", "v1.2.3", with0.Name, with0.New)`,
		`register("example.com/b", "local", with1.XName, with1.NewX)`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: not in\n%s", want, text)
		}
	}
}

func TestAModuleSaysWhichKubernetesItAsksFor(t *testing.T) {
	for _, row := range []struct{ path, version, want string }{
		{"k8s.io/kubernetes", "v1.35.7", "1.35"},
		{"k8s.io/kube-scheduler", "v0.36.1", "1.36"},
		{"k8s.io/kube-scheduler", "v0.0.0", ""},
		{"k8s.io/api", "v0.36.1", ""},
	} {
		var mod goMod
		mod.Require = append(mod.Require, struct{ Path, Version string }{row.path, row.version})
		if got := kubernetesOf(mod); got != row.want {
			t.Errorf("%s %s: got %q, want %q", row.path, row.version, got, row.want)
		}
	}
	if !isNewer("1.37", "1.36") || isNewer("1.36", "1.36") || isNewer("1.9", "1.36") || isNewer("", "1.34") {
		t.Error("isNewer compares numbers")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, row := range []struct{ args, want string }{
		{"--line 1.33", `--line: "1.33" is no line`},
		{"extra", "extra: expected options only"},
	} {
		if _, err := parse(strings.Fields(row.args)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v", row.args, err)
		}
	}
	o, err := parse(strings.Fields("-from /home/me --line 1.35 --with ./p --with example.com/q@v1 -o out"))
	if err != nil || o.out != "/home/me/out" || !reflect.DeepEqual(o.with, []string{"/home/me/p", "example.com/q@v1"}) {
		t.Errorf("got %v, %v", o, err)
	}
}

func TestAFolderNeedsAModule(t *testing.T) {
	var p userPackage
	_, err := workspace{dir: t.TempDir()}.addFolder(t.TempDir(), &p)
	if err == nil || !strings.Contains(err.Error(), "is in no Go module") {
		t.Errorf("got %v", err)
	}
}

func TestPatchesFindWhatTheyReplace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(file, []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sortedVictims.apply(file); err == nil {
		t.Error("expected an error where the text is another one")
	}
}
