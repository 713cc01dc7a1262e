//go:build !k134 && !k135

package recorder

import (
	"context"
	"sort"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
)

// groupOf is the pod group of a pod.
func groupOf(p *v1.Pod) string {
	if p.Spec.SchedulingGroup == nil || p.Spec.SchedulingGroup.PodGroupName == nil || !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		return ""
	}
	return p.Namespace + "/" + *p.Spec.SchedulingGroup.PodGroupName
}

// RunPlacementGeneratePlugins puts the placements into the order of their names, where the real one iterates over a map.
func (o *observed) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, podGroup fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, st := o.Framework.RunPlacementGeneratePlugins(ctx, state, podGroup, nodes)
	sort.Slice(placements, func(i, j int) bool { return placements[i].Name < placements[j].Name })
	names := []string{}
	for _, p := range placements {
		names = append(names, p.Name)
	}
	o.r.flushAttempt()
	rec := Rec{"ev": "placements", "group": podGroup.GetNamespace() + "/" + podGroup.GetName(), "names": names}
	if !st.IsSuccess() {
		rec["status"] = status(st)
	}
	o.r.emit(rec)
	return placements, st
}

// placementScores writes the scores down, and breaks a tie for the first name, where the real one draws.
func (r *recorder) placementScores(group string, scores []fwk.PlacementPluginScores) {
	sort.Slice(scores, func(i, j int) bool { return scores[i].Placement.Name < scores[j].Placement.Name })
	total, best := Rec{}, -1
	for i, s := range scores {
		total[s.Placement.Name] = s.TotalScore
		if best < 0 || s.TotalScore > scores[best].TotalScore {
			best = i
		}
	}
	tied := []string{}
	for _, s := range scores {
		if s.TotalScore == scores[best].TotalScore {
			tied = append(tied, s.Placement.Name)
		}
	}
	if len(tied) > 1 {
		scores[best].TotalScore++
	}
	r.flushAttempt()
	r.emit(Rec{"ev": "placementScores", "group": group, "total": total, "best": tied, "taken": scores[best].Placement.Name})
}
