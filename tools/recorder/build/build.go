package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// build makes the program.
func build(o options) error {
	w := workspace{dir: o.dir}
	if err := w.lay(o); err != nil {
		return err
	}
	if err := w.patch(o.line); err != nil {
		return err
	}
	var packages []userPackage
	plugins := map[string][]plugin{}
	for _, with := range o.with {
		p, err := w.add(with, o.line)
		if err != nil {
			return err
		}
		if plugins[p.path], err = pluginsOf(p.dir); err != nil {
			return fmt.Errorf("--with %s: %w", with, err)
		}
		packages = append(packages, p)
	}
	var imports []string
	for _, path := range o.imports {
		if strings.Contains(path, "@") {
			if _, err := w.run("get", path); err != nil {
				return fmt.Errorf("--import %s: %w", path, err)
			}
			path, _, _ = strings.Cut(path, "@")
		}
		imports = append(imports, path)
	}
	if len(packages)+len(imports) > 0 {
		file := registration(packages, plugins, imports)
		if err := os.WriteFile(filepath.Join(w.dir, "with_made.go"), []byte(file), 0o644); err != nil {
			return err
		}
	}
	if err := w.compile(o); err != nil {
		return w.explain(err, o.line, packages)
	}
	for _, p := range packages {
		for _, x := range plugins[p.path] {
			fmt.Fprintf(os.Stderr, "with %s.%s of %s %s\n", filepath.Base(p.path), x.factory, p.path, p.version)
		}
	}
	fmt.Fprintf(os.Stderr, "kube-scheduler %s: %s\n", o.line.kubernetes, o.out)
	return nil
}

// lay lays out the files of the recorder and of the line. What an earlier build patched stays.
func (w workspace) lay(o options) error {
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(w.dir, "*.go"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(o.source, "*.go"))
	if err != nil {
		return err
	}
	for _, f := range files {
		// The recorder is a test binary with one test; those of the recorder itself stay at home.
		if name := filepath.Base(f); strings.HasSuffix(name, "_test.go") && name != "main_test.go" {
			continue
		}
		if err := copyFile(f, filepath.Join(w.dir, filepath.Base(f))); err != nil {
			return err
		}
	}
	for _, end := range []string{"mod", "sum"} {
		from := filepath.Join(o.source, "lines", o.line.name+"."+end)
		if o.line == lines[len(lines)-1] {
			from = filepath.Join(o.source, "go."+end) // the newest line is that of the folder itself
		}
		if err := copyFile(from, filepath.Join(w.dir, "go."+end)); err != nil {
			return err
		}
	}
	// A user's module may ask for a later patch release.
	_, err = w.run("mod", "edit", "-replace=k8s.io/kubernetes=k8s.io/kubernetes@v"+o.line.kubernetes)
	return err
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

func (w workspace) compile(o options) error {
	_, err := w.run("test", "-c", "-tags="+o.line.tag(), "-ldflags=-X schedsim.dev/recorder.kubernetesVersion="+o.line.kubernetes, "-o", o.out, ".")
	return err
}

// explain says of an error of the compiler for which line the user's modules were made.
func (w workspace) explain(err error, l line, packages []userPackage) error {
	for _, p := range packages {
		if p.kubernetes != "" && p.kubernetes != l.name {
			err = fmt.Errorf("%w\n%s was made for Kubernetes %s, and is built for %s here", err, p.path, p.kubernetes, l.name)
		}
	}
	return err
}
