package main

import (
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"sort"
	"strings"
)

// plugin is one of a package: a constant with its name, and a function that makes it.
type plugin struct {
	name    string // such as Name, or AllocatableName
	factory string // such as New, or NewAllocatable
}

// pluginsOf finds the plugins of a package: for each exported FooName and NewFoo, Name and New included, there is one.
func pluginsOf(dir string) ([]plugin, error) {
	pkg, err := gobuild.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	names, factories := map[string]bool{}, map[string]bool{}
	for _, file := range pkg.GoFiles {
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, 0)
		if err != nil {
			return nil, err
		}
		for _, decl := range tree.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				addNames(d, names)
			case *ast.FuncDecl:
				if d.Recv == nil && isFactory(d) {
					factories[d.Name.Name] = true
				}
			}
		}
	}
	var out []plugin
	for name := range names {
		if factory := "New" + strings.TrimSuffix(name, "Name"); factories[factory] {
			out = append(out, plugin{name, factory})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no plugin found, expected a constant Name and a function New(context.Context, runtime.Object, framework.Handle) (framework.Plugin, error), or FooName and NewFoo")
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out, nil
}

// addNames adds exported constants and variables that end in Name.
func addNames(d *ast.GenDecl, names map[string]bool) {
	for _, spec := range d.Specs {
		values, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for _, n := range values.Names {
			if ast.IsExported(n.Name) && strings.HasSuffix(n.Name, "Name") {
				names[n.Name] = true
			}
		}
	}
}

// isFactory says whether a function may be a plugin's: it takes three arguments and returns two results. The compiler knows
// the rest.
func isFactory(d *ast.FuncDecl) bool {
	return d.Type.TypeParams == nil && d.Type.Params.NumFields() == 3 && d.Type.Results.NumFields() == 2
}

// registration is the file that makes the user's plugins known to the recorder.
func registration(packages []userPackage, plugins map[string][]plugin, imports []string) string {
	var imported, calls strings.Builder
	for i, p := range packages {
		fmt.Fprintf(&imported, "\twith%d %q\n", i, p.path)
		for _, x := range plugins[p.path] {
			fmt.Fprintf(&calls, "\tregister(%q, %q, with%d.%s, with%d.%s)\n", p.path, p.version, i, x.name, i, x.factory)
		}
	}
	for _, path := range imports {
		fmt.Fprintf(&imported, "\t_ %q\n", path)
	}
	return "// Made by build.sh.\n\npackage recorder\n\nimport (\n" + imported.String() + ")\n\nfunc init() {\n" + calls.String() + "}\n"
}
