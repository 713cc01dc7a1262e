package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// patch fixes, in three lines, what the real code leaves to the order of a Go map and what would show in a trace. It is one of
// the outcomes that the code may have anyway. The module is built from a copy.
type patch struct {
	module string
	// files within the module, each with the same edits.
	files []string
	edits []edit
	more  string // is added at the end
}

// edit replaces what must be there.
type edit struct {
	old *regexp.Regexp
	new string
}

// sortedPools: pools of devices are walked in the order of a map, and their slices in the informer's. From 1.36 on both are
// sorted: by driver and pool, and by name. So they are here. walk is how the line walks over its pools.
func sortedPools(walk edit) patch {
	return patch{
		module: "k8s.io/dynamic-resource-allocation",
		files:  []string{"structured/internal/incubating/pools_incubating.go", "structured/internal/experimental/pools_experimental.go"},
		edits: []edit{
			{regexp.MustCompile(`(?m)^(func GatherPools\(.*\{)$`), "$1\n\tslices = recorderByName(slices)"},
			walk,
			{regexp.MustCompile(`(?m)^import \($`), "import (\n\t\"sort\""},
		},
		more: orderOfPools,
	}
}

const orderOfPools = `
func recorderByName(in []*resourceapi.ResourceSlice) []*resourceapi.ResourceSlice {
	out := append([]*resourceapi.ResourceSlice{}, in...)
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

func recorderSorted[T any](pools map[PoolID]T) []PoolID {
	ids := make([]PoolID, 0, len(pools))
	for id := range pools {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool {
		if a, b := ids[i].Driver.String(), ids[j].Driver.String(); a != b {
			return a < b
		}
		return ids[i].Pool.String() < ids[j].Pool.String()
	})
	return ids
}
`

// sortedVictims: preemption by a pod group collects the possible victims in a map; of equal ones, any may come first. Here it
// is by node and pod.
var sortedVictims = patch{
	module: "k8s.io/kubernetes",
	files:  []string{"pkg/scheduler/framework/preemption/types.go"},
	edits: []edit{{regexp.MustCompile(`allPossibleVictims := slices\.Collect\(maps\.Values\(victimMap\)\)`),
		"allPossibleVictims := recorderOrder(nodes, slices.Collect(maps.Values(victimMap)))"}},
	more: `
func recorderOrder(nodes []fwk.NodeInfo, victims []*victim) []*victim {
	byPod := map[types.UID]*victim{}
	for _, v := range victims {
		for _, p := range v.pods {
			byPod[p.GetPod().UID] = v
		}
	}
	out, seen := make([]*victim, 0, len(victims)), map[*victim]bool{}
	for _, node := range nodes {
		for _, p := range node.GetPods() {
			if v := byPod[p.GetPod().UID]; v != nil && !seen[v] {
				seen[v] = true
				out = append(out, v)
			}
		}
	}
	return out
}
`,
}

// patches are those of each line.
var patches = map[string]patch{
	"1.34": sortedPools(edit{regexp.MustCompile(`for _, pool := range pools \{`),
		"for _, recorderID := range recorderSorted(pools) {\n\t\tpool := pools[recorderID]"}),
	"1.35": sortedPools(edit{regexp.MustCompile(`for poolID, slicesForPool := range pools \{`),
		"for _, poolID := range recorderSorted(pools) {\n\t\tslicesForPool := pools[poolID]"}),
	"1.36": sortedVictims,
}

// patch makes the patched copy of the line's module, unless it is there, and has the workspace use it.
func (w workspace) patch(l line) error {
	p, ok := patches[l.name]
	if !ok {
		return nil
	}
	out, err := w.run("list", "-m", "-f", "{{with .Replace}}{{.Path}}@{{.Version}}{{end}}", p.module)
	if err != nil {
		return err
	}
	copied := filepath.Join(w.dir, "patched")
	if _, err := os.Stat(copied); err != nil {
		if err := w.copyPatched(p, trimmed(out), copied); err != nil {
			return err
		}
	}
	_, err = w.run("mod", "edit", "-replace="+p.module+"=./patched")
	return err
}

func trimmed(s string) string { return string(regexp.MustCompile(`\s+$`).ReplaceAllString(s, "")) }

// copyPatched copies a module, given as MODULE@VERSION, and edits it.
func (w workspace) copyPatched(p patch, module, copied string) error {
	out, err := w.run("mod", "download", "-json", module)
	if err != nil {
		return err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &downloaded); err != nil {
		return err
	}
	fresh := copied + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := copyTree(downloaded.Dir, fresh); err != nil {
		return err
	}
	for _, file := range p.files {
		if err := p.apply(filepath.Join(fresh, file)); err != nil {
			return err
		}
	}
	return os.Rename(fresh, copied)
}

func (p patch) apply(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, e := range p.edits {
		if !e.old.Match(text) {
			return fmt.Errorf("%s: expected %s", path, e.old)
		}
		text = e.old.ReplaceAll(text, []byte(e.new))
	}
	return os.WriteFile(path, append(text, p.more...), 0o644)
}

// copyTree copies the files of a module; those of the module cache cannot be written.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, inside), 0o755)
		}
		return copyFile(path, filepath.Join(to, inside))
	})
}
