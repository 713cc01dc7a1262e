//go:build !k134

package recorder

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// SignPod follows the rules.
func (s *scriptedFull) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if s.a.Sign == nil {
		return nil, nil
	}
	switch s.a.Sign.Mode {
	case "label":
		return []fwk.SignFragment{{Key: "recorder/" + s.name, Value: pod.Labels[s.a.Sign.Key]}}, nil
	case "refuse":
		return nil, fwk.NewStatus(fwk.Unschedulable, "not signed")
	case "error":
		return nil, fwk.NewStatus(fwk.Error, "cannot sign")
	}
	return nil, nil
}
