package recorder

import (
	"hash/fnv"
)

// ExtenderServer says what the HTTP server behind one extender's urlPrefix answers. README.md has the exact meaning.
type ExtenderServer struct {
	Name       string       `json:"name"` // how the trace calls it
	URL        string       `json:"url"`  // the extender's urlPrefix
	Down       [][2]float64 `json:"down,omitempty"`
	Filter     []ExtRule    `json:"filter,omitempty"`
	Prioritize []ExtRule    `json:"prioritize,omitempty"`
	Preempt    []ExtRule    `json:"preempt,omitempty"`
	Bind       []ExtRule    `json:"bind,omitempty"`
}

// ExtWhen selects requests; every given condition must hold.
type ExtWhen struct {
	PodLabel  map[string]string `json:"podLabel,omitempty"`
	PodHash   *Hash             `json:"podHash,omitempty"`  // of "namespace/name"
	PodCalls  *[2]int           `json:"podCalls,omitempty"` // this pod's n-th call of this verb, from 1, first and last
	Calls     *[2]int           `json:"calls,omitempty"`    // the server's n-th call of this verb
	Nominated *bool             `json:"nominated,omitempty"`
}

// Hash holds where FNV-1a (32 bits) of the text, modulo Mod, is below Below.
type Hash struct {
	Mod   uint32 `json:"mod"`
	Below uint32 `json:"below"`
}

func (h *Hash) holds(s string) bool { return fnv32(s)%h.Mod < h.Below }

func fnv32(s string) uint32 {
	f := fnv.New32a()
	_, _ = f.Write([]byte(s))
	return f.Sum32()
}

// NodeMatch selects nodes; every given condition must hold. Empty: every node.
type NodeMatch struct {
	Names     []string          `json:"names,omitempty"`
	Label     map[string]string `json:"label,omitempty"`
	HasLabel  string            `json:"hasLabel,omitempty"`
	NoLabel   string            `json:"noLabel,omitempty"`
	Hash      *Hash             `json:"hash,omitempty"`      // of "namespace/name of the pod@node"
	SameLabel string            `json:"sameLabel,omitempty"` // pod and node both have it, with one value
}

// ExtNode is what happens to the nodes that it matches; the first that matches counts.
type ExtNode struct {
	Match NodeMatch `json:"match"`
	// filter: keep, fail, unresolvable, both (in both maps), silent (left out without a word), keepAndFail
	// preempt: keep, drop, empty (no victims left)
	Do      string `json:"do,omitempty"`
	Message string `json:"message,omitempty"` // %n: the node, %p: the pod's name
	// prioritize
	Score      int64  `json:"score,omitempty"`
	ScoreLabel string `json:"scoreLabel,omitempty"` // the label's value as a number; no number: Score
	ScoreHash  uint32 `json:"scoreHash,omitempty"`  // FNV-1a of "pod@node" modulo this
	Omit       bool   `json:"omit,omitempty"`
	Twice      bool   `json:"twice,omitempty"`
	// preempt
	DropVictims   int    `json:"dropVictims,omitempty"` // this many from the end of the list
	Reverse       bool   `json:"reverse,omitempty"`     // the order of the victims
	AddViolations int64  `json:"addViolations,omitempty"`
	AddVictim     string `json:"addVictim,omitempty"` // a UID
}

// ExtRule is one behaviour; the first whose When holds answers a request. No rule: keep all, score 0, bind.
type ExtRule struct {
	When ExtWhen `json:"when"`
	// faults
	Delay  float64 `json:"delay,omitempty"`  // seconds before the answer
	Status int     `json:"status,omitempty"` // HTTP status, with Raw or no body
	Raw    *string `json:"raw,omitempty"`    // the body as it is
	Drop   bool    `json:"drop,omitempty"`   // close the connection without an answer
	Error  string  `json:"error,omitempty"`  // filter, bind: the result's Error
	// filter, prioritize, preempt
	Nodes []ExtNode `json:"nodes,omitempty"`
	// filter
	Form      string            `json:"form,omitempty"`  // "" like the request, "names", "nodes", "both", "none"
	Extra     []string          `json:"extra,omitempty"` // kept although not asked for; preempt: a node with Victims
	Duplicate bool              `json:"duplicate,omitempty"`
	Reverse   bool              `json:"reverse,omitempty"`   // the order of the answer
	SetLabels map[string]string `json:"setLabels,omitempty"` // on the returned Node objects
	SetAlloc  map[string]string `json:"setAlloc,omitempty"`  // allocatable of the returned Node objects
	AlsoFail  map[string]string `json:"alsoFail,omitempty"`  // more entries of FailedNodes
	Scores    []map[string]any  `json:"scores,omitempty"`    // prioritize: more entries
	Victims   string            `json:"victims,omitempty"`   // preempt: of Extra: "lower" (default), "none", or a UID
	// bind
	Do string `json:"do,omitempty"` // "" bind before the delay, "late" bind after it, "none" only say so
}
