package recorder

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// nodeNumber prefers the node whose name ends in the pod's last digit.
type nodeNumber struct {
	args struct {
		Reverse bool   `json:"reverse"`
		Variant string `json:"variant"` // simulator (default), wasm, perf
	}
}

func newNodeNumber(_ context.Context, o runtime.Object, _ handle) (plugin, error) {
	n := &nodeNumber{}
	if err := frameworkruntime.DecodeInto(o, &n.args); err != nil {
		return nil, err
	}
	return n, nil
}

func (*nodeNumber) Name() string { return "NodeNumber" }

type lastDigit int

func (d lastDigit) Clone() fwk.StateData { return d }

func (n *nodeNumber) digit(name string) (int, bool) {
	c := name[len(name)-1]
	if c >= '0' && c <= '9' {
		return int(c - '0'), true
	}
	if n.args.Variant == "perf" {
		return int(c) % 10, true
	}
	return 0, false
}

func (*nodeNumber) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}}}, nil
}

func (n *nodeNumber) PreScore(_ context.Context, state fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	if d, ok := n.digit(pod.Name); ok {
		state.Write("recorder/NodeNumber", lastDigit(d))
	}
	return nil
}

func (n *nodeNumber) Score(_ context.Context, state fwk.CycleState, _ *v1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	data, err := state.Read("recorder/NodeNumber")
	d, ok := n.digit(info.Node().Name)
	var match bool
	switch {
	case n.args.Variant == "wasm":
		match = err != nil || ok && int(data.(lastDigit)) == d
	case err != nil || !ok:
		return 0, nil
	default:
		match = int(data.(lastDigit)) == d
	}
	if match != n.args.Reverse {
		return 10, nil
	}
	return 0, nil
}

func (*nodeNumber) ScoreExtensions() scoreExtensions { return nil }
