package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// workspace is the Go module in which a recorder is built: the recorder's files, go.mod of the line, and one file more
// that imports the user's packages.
type workspace struct {
	dir string
}

// run runs the go command in the workspace and returns what it prints.
func (w workspace) run(args ...string) (string, error) {
	c := exec.Command("go", args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var errors strings.Builder
	c.Stderr = &errors
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %s", args[0], strings.TrimSpace(errors.String()))
	}
	return string(out), nil
}

// goMod is what `go mod edit -json` says of a go.mod.
type goMod struct {
	Module  struct{ Path string }
	Require []struct{ Path, Version string }
}

func (w workspace) readMod(file string) (goMod, error) {
	var mod goMod
	out, err := w.run("mod", "edit", "-json", file)
	if err != nil {
		return mod, err
	}
	return mod, json.Unmarshal([]byte(out), &mod)
}

// kubernetesOf is the minor release of Kubernetes that a module asks for, as "1.35"; "": it asks for none.
func kubernetesOf(mod goMod) string {
	for _, r := range mod.Require {
		switch r.Path {
		case "k8s.io/kubernetes":
			return minorOf(r.Version, "v1.")
		case "k8s.io/kube-scheduler":
			if minor := minorOf(r.Version, "v0."); minor != "" && minor != "1.0" {
				return minor
			}
		}
	}
	return ""
}

// minorOf makes "1.35" of v1.35.7, or of v0.35.7 with the prefix "v0.".
func minorOf(version, prefix string) string {
	rest, ok := strings.CutPrefix(version, prefix)
	if !ok {
		return ""
	}
	minor, _, _ := strings.Cut(rest, ".")
	return "1." + minor
}

// isNewer says whether one minor release is newer than the other.
func isNewer(a, b string) bool {
	number := func(s string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(s, "1."))
		return n
	}
	return number(a) > number(b)
}

// userPackage is a package with plugins.
type userPackage struct {
	path    string
	version string // "local": it is a folder
	// kubernetes is the minor release that its module asks for; "": none.
	kubernetes string
	dir        string
}

// add makes the package of --with part of the workspace.
func (w workspace) add(with string, l line) (userPackage, error) {
	var p userPackage
	var modFile string
	var err error
	if name, version, ok := strings.Cut(with, "@"); ok {
		p.path, p.version = name, version
		modFile, err = w.addModule(&p)
	} else {
		p.version = "local"
		modFile, err = w.addFolder(with, &p)
	}
	if err != nil {
		return p, err
	}
	mod, err := w.readMod(modFile)
	if err != nil {
		return p, err
	}
	p.kubernetes = kubernetesOf(mod)
	if isNewer(p.kubernetes, l.name) {
		return p, fmt.Errorf("--with %s: its module asks for Kubernetes %s, expected %s or older; --line chooses another line", with, p.kubernetes, l.name)
	}
	p.dir, err = w.run("list", "-f", "{{.Dir}}", p.path)
	p.dir = strings.TrimSpace(p.dir)
	return p, err
}

// addModule gets a package of the Go module proxy. Returns the go.mod of its module.
func (w workspace) addModule(p *userPackage) (string, error) {
	module, err := w.moduleOf(p.path, p.version)
	if err != nil {
		return "", err
	}
	if _, err := w.run("get", module+"@"+p.version); err != nil {
		return "", err
	}
	out, err := w.run("list", "-f", "{{.Module.Version}}\n{{.Module.GoMod}}", p.path)
	if err != nil {
		return "", err
	}
	version, modFile, _ := strings.Cut(strings.TrimSpace(out), "\n")
	p.version = version
	return modFile, nil
}

// moduleOf is the module that has the package: the package itself, or what is above it. (Of a package `go get` asks for all of
// these at once, and some proxies refuse names that are no modules.)
func (w workspace) moduleOf(pkg, version string) (string, error) {
	var first error
	for module := pkg; strings.Contains(module, "/"); module = path.Dir(module) {
		_, err := w.run("list", "-m", module+"@"+version)
		if err == nil {
			return module, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// addFolder takes a package from a folder, whose module is that of the next go.mod above. Returns that go.mod.
func (w workspace) addFolder(folder string, p *userPackage) (string, error) {
	if info, err := os.Stat(folder); err != nil {
		return "", fmt.Errorf("--with: %w", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("--with: %s is a file, expected a folder, or PACKAGE@VERSION", folder)
	}
	root := folder
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return "", fmt.Errorf("--with: %s is in no Go module: no go.mod there or above; `go mod init` makes one", folder)
		}
		root = filepath.Dir(root)
	}
	modFile := filepath.Join(root, "go.mod")
	mod, err := w.readMod(modFile)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(root, folder)
	if err != nil {
		return "", err
	}
	p.path = mod.Module.Path
	if inside != "." {
		p.path += "/" + filepath.ToSlash(inside)
	}
	_, err = w.run("mod", "edit", "-require="+mod.Module.Path+"@v0.0.0", "-replace="+mod.Module.Path+"="+root)
	return modFile, err
}
