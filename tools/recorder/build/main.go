// Build makes a recorder of one Kubernetes line, with plugins of a user in it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// line is a minor release of Kubernetes.
type line struct {
	name       string
	kubernetes string // the patch release that is built
}

var lines = []line{{"1.34", "1.34.4"}, {"1.35", "1.35.4"}, {"1.36", "1.36.3"}, {"1.37", "1.37.2"}}

// tag is the build tag of the line's file.
func (l line) tag() string { return "k" + strings.ReplaceAll(l.name, ".", "") }

// options are what the user asks for.
type options struct {
	line    line
	source  string   // the folder of the recorder
	with    []string // PACKAGE@VERSION or a folder each, absolute
	imports []string // PACKAGE or PACKAGE@VERSION each
	out     string
	dir     string // where it is built
}

// list is a flag that may be given again.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func parse(args []string) (options, error) {
	var o options
	var with, imports list
	var from, name string
	flags := flag.NewFlagSet("build.sh", flag.ContinueOnError)
	flags.StringVar(&name, "line", "1.37", "the line of Kubernetes: 1.34 to 1.37")
	flags.Var(&with, "with", "a package with plugins, as PACKAGE@VERSION, or its folder; may be given again")
	flags.Var(&imports, "import", "a package that is only imported, such as one that registers types of arguments; may be given again")
	flags.StringVar(&o.out, "o", "", "the program that is built (default recorder-LINE)")
	flags.StringVar(&o.dir, "dir", "", "the folder in which it is built (default: one in the user's cache)")
	flags.StringVar(&o.source, "source", ".", "the folder of the recorder: build.sh gives it")
	flags.StringVar(&from, "from", ".", "what relative paths are relative to: build.sh gives it")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%s: expected options only", flags.Arg(0))
	}
	for _, l := range lines {
		if l.name == name {
			o.line = l
		}
	}
	if o.line.name == "" {
		return o, fmt.Errorf("--line: %q is no line, expected 1.34, 1.35, 1.36 or 1.37", name)
	}
	if o.out == "" {
		o.out = "recorder-" + o.line.name
	}
	absolute := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(from, path)
	}
	o.out, o.imports = absolute(o.out), imports
	for _, w := range with {
		if !strings.Contains(w, "@") {
			w = absolute(w)
		}
		o.with = append(o.with, w)
	}
	if o.dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("%w; --dir says where to build", err)
		}
		o.dir = filepath.Join(cache, "schedsim-recorder", o.line.name)
	} else {
		o.dir = absolute(o.dir)
	}
	return o, nil
}

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err == nil {
		err = build(o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "build.sh: %v\n", err)
		os.Exit(2)
	}
}
