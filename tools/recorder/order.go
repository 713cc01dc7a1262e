package recorder

import (
	"bytes"
	"encoding/json"
	"sort"
)

// ranks orders the records of one instant: 0 pods that go, and what the queue asks plugins, pod by pod in the order of a Go map; 1 the scheduling
// cycle; 2 the rest, pod by pod: the binding cycles run beside it.
func ranks(ev, verb, point string) int {
	switch {
	case ev == "gone", ev == "plugin" && (point == "PreEnqueue" || point == "Hint"):
		return 0
	case ev == "attempt", ev == "extender" && verb != "bind", ev == "plugin" && (point == "PostFilter" || point == "Reserve" || point == "Permit"):
		return 1
	}
	return 2
}

// sortNodes brings an attempt whose nodes came out of a Go map, after a PreFilter that named more than one, into the order of names.
func sortNodes(cur Rec) {
	// The reasons of one node come out of a map too.
	filters, _ := cur["filter"].([]Rec)
	for _, f := range filters {
		if xs, ok := f["reasons"].([]string); ok {
			f["reasons"] = sortedCopy(xs)
		}
	}
	pre, _ := cur["preFilter"].(Rec)
	if pre == nil {
		return
	}
	if set, _ := pre["nodes"].([]string); len(set) < 2 {
		return
	}
	cur["anyOrder"] = true
	sort.SliceStable(filters, func(i, j int) bool { return filters[i]["node"].(string) < filters[j]["node"].(string) })
	sc, _ := cur["scores"].(Rec)
	if sc == nil {
		return
	}
	names := sc["nodes"].([]string)
	perm := make([]int, len(names))
	for i := range perm {
		perm[i] = i
	}
	sort.SliceStable(perm, func(i, j int) bool { return names[perm[i]] < names[perm[j]] })
	out := make([]string, len(names))
	for i, k := range perm {
		out[i] = names[k]
	}
	sc["nodes"] = out
	for _, key := range []string{"raw", "weighted"} {
		if m, ok := sc[key].(map[string][]int64); ok {
			for p, xs := range m {
				m[p] = permute(xs, perm)
			}
		}
	}
	for _, key := range []string{"total", "final"} {
		if xs, ok := sc[key].([]int64); ok {
			sc[key] = permute(xs, perm)
		}
	}
	if m, ok := sc["extenders"].(Rec); ok {
		for p, xs := range m {
			m[p] = permute(xs.([]any), perm)
		}
	}
}

func sortedCopy(xs []string) []string {
	out := append([]string{}, xs...)
	sort.Strings(out)
	return out
}

func permute[T any](xs []T, perm []int) []T {
	out := make([]T, len(xs))
	for i, k := range perm {
		out[i] = xs[k]
	}
	return out
}

// inOrder puts the records of each instant in the order of their ranks.
func inOrder(trace []byte) []byte {
	type line struct {
		text []byte
		pod  string
		t    float64
		rank int
		stop bool
	}
	var out bytes.Buffer
	var block []line
	flush := func() {
		sort.SliceStable(block, func(i, j int) bool {
			if block[i].rank != block[j].rank {
				return block[i].rank < block[j].rank
			}
			return block[i].rank == 0 && bytes.Compare(block[i].text, block[j].text) < 0 || block[i].rank == 2 && block[i].pod < block[j].pod
		})
		for _, l := range block {
			out.Write(l.text)
			out.WriteByte('\n')
		}
		block = block[:0]
	}
	for _, text := range bytes.Split(bytes.TrimSpace(trace), []byte{'\n'}) {
		var rec struct {
			Ev, Verb, Point, Pod string
			T                    float64
		}
		if err := json.Unmarshal(text, &rec); err != nil {
			panic(err)
		}
		l := line{text: text, pod: rec.Pod, t: rec.T, stop: rec.Ev == "queue" || rec.Ev == "step" || rec.Ev == "cut" || rec.Ev == "final"}
		l.rank = ranks(rec.Ev, rec.Verb, rec.Point)
		if l.stop || len(block) > 0 && block[0].t != l.t {
			flush()
		}
		block = append(block, l)
		if l.stop {
			flush()
		}
	}
	flush()
	return out.Bytes()
}
