package recorder

import (
	"context"
	"math"
	"sort"

	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// OrderedScoreFuncs gives, in a case with a seed, the five criteria of the real pickOneNodeForPreemption (the same text in all
// lines) and then the name, where the real one takes the first of a Go map.
func (o *observedPreemption) OrderedScoreFuncs(ctx context.Context, m map[string]*extenderv1.Victims) []func(string) int64 {
	own := o.Interface.OrderedScoreFuncs(ctx, m)
	if len(own) > 0 || !o.r.seeded {
		return own
	}
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	index := map[string]int64{}
	for i, n := range names {
		index[n] = int64(i)
	}
	return []func(string) int64{
		func(n string) int64 { return -m[n].NumPDBViolations },
		func(n string) int64 { return -int64(corev1helpers.PodPriority(m[n].Pods[0])) },
		func(n string) int64 {
			var sum int64
			for _, p := range m[n].Pods {
				sum += int64(corev1helpers.PodPriority(p)) + int64(math.MaxInt32+1)
			}
			return -sum
		},
		func(n string) int64 { return -int64(len(m[n].Pods)) },
		func(n string) int64 {
			if t := util.GetEarliestPodStartTime(m[n]); t != nil {
				return t.UnixNano()
			}
			return math.MinInt64
		},
		func(n string) int64 { return -index[n] },
	}
}
