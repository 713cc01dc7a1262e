package recorder

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// underlayIP gives every pod one of its node's addresses.
type underlayIP struct {
	args struct {
		IPsPerNode int    `json:"ipsPerNode"` // default 10
		SkipLabel  string `json:"skipLabel"`  // nodes with it have none
		CountBound bool   `json:"countBound"` // pods that already have a node when first seen count
	}
	r    *recorder
	mu   sync.Mutex
	used map[string]sets.Set[string] // node: UIDs of pods
}

func newUnderlayIP(r *recorder, o runtime.Object, h handle) (plugin, error) {
	u := &underlayIP{r: r, used: map[string]sets.Set[string]{}}
	u.args.IPsPerNode = 10
	if err := frameworkruntime.DecodeInto(o, &u.args); err != nil {
		return nil, err
	}
	_, err := h.SharedInformerFactory().Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o interface{}) {
			if p := o.(*v1.Pod); u.args.CountBound && p.Spec.NodeName != "" {
				u.take(p, p.Spec.NodeName)
			}
		},
		DeleteFunc: func(o interface{}) {
			if p, ok := o.(*v1.Pod); ok {
				u.release(p)
			} else if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
				u.release(d.Obj.(*v1.Pod))
			}
		},
	})
	return u, err
}

func (*underlayIP) Name() string { return "UnderlayIP" }

func (u *underlayIP) take(p *v1.Pod, node string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.used[node] == nil {
		u.used[node] = sets.New[string]()
	}
	u.used[node].Insert(string(p.UID))
}

func (u *underlayIP) release(p *v1.Pod) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, s := range u.used {
		s.Delete(string(p.UID))
	}
}

func (u *underlayIP) free(node string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.args.IPsPerNode - u.used[node].Len()
}

func (u *underlayIP) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}, QueueingHintFn: func(_ klog.Logger, pod *v1.Pod, oldObj, _ interface{}) (fwk.QueueingHint, error) {
			if p, ok := oldObj.(*v1.Pod); ok && p.Spec.NodeName != "" {
				return fwk.Queue, nil
			}
			return fwk.QueueSkip, nil
		}},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel}},
	}, nil
}

func (u *underlayIP) Filter(_ context.Context, _ fwk.CycleState, _ *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	if _, ok := info.Node().Labels[u.args.SkipLabel]; ok && u.args.SkipLabel != "" {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) have no underlay IPs")
	}
	if u.free(info.Node().Name) <= 0 {
		return fwk.NewStatus(fwk.Unschedulable, "node(s) had no free underlay IP")
	}
	return nil
}

func (u *underlayIP) Score(_ context.Context, _ fwk.CycleState, _ *v1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	return int64(u.free(info.Node().Name)), nil
}

func (u *underlayIP) ScoreExtensions() scoreExtensions { return u }

func (*underlayIP) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *v1.Pod, scores nodeScoreList) *fwk.Status {
	return helper.DefaultNormalizeScore(100, false, scores)
}

func (u *underlayIP) Reserve(_ context.Context, _ fwk.CycleState, p *v1.Pod, node string) *fwk.Status {
	if u.free(node) <= 0 {
		return fwk.NewStatus(fwk.Unschedulable, "node(s) had no free underlay IP")
	}
	u.take(p, node)
	return nil
}

func (u *underlayIP) Unreserve(_ context.Context, _ fwk.CycleState, p *v1.Pod, _ string) {
	u.release(p)
}
