package recorder

import (
	"encoding/json"
	"fmt"
	"time"

	schedapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	schedscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// Case is one scenario.
type Case struct {
	Name         string            `json:"name"`
	Config       json.RawMessage   `json:"config,omitempty"`       // KubeSchedulerConfiguration v1; absent: the defaults
	FeatureGates map[string]bool   `json:"featureGates,omitempty"` // on top of the line's defaults
	Objects      []json.RawMessage `json:"objects"`                // created in this order before the scheduler starts
	Steps        []Step            `json:"steps,omitempty"`        // applied at their times
	End          float64           `json:"end,omitempty"`          // seconds
	// EndAtRest ends the case sooner, when nothing but flushes of the queue is left.
	EndAtRest bool `json:"endAtRest,omitempty"`
	// Start is when the first object is created; absent: when the year 2000 begins. It must not be before that.
	Start *time.Time `json:"start,omitempty"`
	// MaxPops ends the case after so many pods were taken from the queue. 0: 400 in a case with a seed, else any number.
	MaxPops int `json:"maxPops,omitempty"`
	// TerminationSeconds is how long a deleted bound pod stays with a deletionTimestamp. 0: it goes at once.
	TerminationSeconds float64 `json:"terminationSeconds,omitempty"`
	// Record is "full" (the default) or "decisions", which leaves out each node's status and scores.
	Record string `json:"record,omitempty"`
	// Provision makes a stand-in volume controller: binds claims, provisions volumes for selected nodes.
	Provision bool `json:"provision,omitempty"`
	// ExtenderServers answer the configuration's extenders.
	ExtenderServers []*ExtenderServer `json:"extenderServers,omitempty"`
	// Seed, where given, seeds Go's math/rand at the start, and fixes full ties of preemption candidates: first by name.
	Seed *int64 `json:"seed,omitempty"`
	// Lines are the Kubernetes lines the case is for (absent: all). On another line it writes no trace.
	Lines []string `json:"lines,omitempty"`
	// LineGates are feature gates for one line only, on top of FeatureGates.
	LineGates map[string]map[string]bool `json:"lineGates,omitempty"`
	// Claims makes a stand-in resource claim controller: see claims.go.
	Claims bool `json:"claims,omitempty"`
	// Devices makes a stand-in DRA driver for binding conditions: see claims.go.
	Devices *DeviceDriver `json:"devices,omitempty"`
}

// gates are the feature gates of the case on this line.
func (c *Case) gates() map[string]bool {
	out := map[string]bool{}
	for k, v := range c.FeatureGates {
		out[k] = v
	}
	for k, v := range c.LineGates[line] {
		out[k] = v
	}
	return out
}

func (c *Case) forThisLine() bool {
	if len(c.Lines) == 0 {
		return true
	}
	for _, l := range c.Lines {
		if l == line {
			return true
		}
	}
	return false
}

// Step is one change of the cluster at a time (seconds after the scheduler's start).
type Step struct {
	At     float64         `json:"at"`
	Create json.RawMessage `json:"create,omitempty"`
	Update json.RawMessage `json:"update,omitempty"` // the whole new object; status included
	Delete *Ref            `json:"delete,omitempty"`
}

// Ref names an object.
type Ref struct {
	APIVersion string `json:"apiVersion,omitempty"` // absent: any version of the kind
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

func loadConfig(raw json.RawMessage) (*schedapi.KubeSchedulerConfiguration, error) {
	if len(raw) == 0 {
		return latest.Default()
	}
	obj, _, err := schedscheme.Codecs.UniversalDecoder().Decode(raw, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg, ok := obj.(*schedapi.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("not a KubeSchedulerConfiguration: %T", obj)
	}
	cfg.TypeMeta.APIVersion = "kubescheduler.config.k8s.io/v1"
	return cfg, nil
}
