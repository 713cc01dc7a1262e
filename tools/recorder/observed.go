package recorder

import (
	"context"
	"reflect"
	"sort"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// observed is a profile's framework that writes down what passes through it.
type observed struct {
	framework.Framework
	r     *recorder
	later *laterHandle
}

func status(s *fwk.Status) Rec {
	if s == nil {
		return nil
	}
	return Rec{"code": s.Code().String(), "plugin": s.Plugin(), "reasons": s.Reasons()}
}

func (o *observed) set(key string, value any) {
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	if o.r.cur != nil {
		o.r.cur[key] = value
	}
}

func (o *observed) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*preFilterResult, *fwk.Status, sets.Set[string]) {
	res, st, plugins := o.Framework.RunPreFilterPlugins(ctx, state, pod)
	rec := Rec{}
	if !st.IsSuccess() {
		rec["status"] = status(st)
	}
	if !res.AllNodes() {
		rec["nodes"] = sets.List(res.NodeNames)
	}
	if len(plugins) > 0 {
		rec["plugins"] = sets.List(plugins)
	}
	if skip := state.GetSkipFilterPlugins(); len(skip) > 0 {
		rec["skipFilter"] = sets.List(skip)
	}
	o.set("preFilter", rec)
	return res, st, plugins
}

func (o *observed) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	st := o.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, info)
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	if o.r.cur != nil && !o.r.brief {
		list, _ := o.r.cur["filter"].([]Rec)
		rec := Rec{"node": info.Node().Name}
		if !st.IsSuccess() {
			rec["code"], rec["plugin"], rec["reasons"] = st.Code().String(), st.Plugin(), st.Reasons()
		}
		o.r.cur["filter"] = append(list, rec)
	}
	return st
}

func (o *observed) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, m nodeToStatusReader) (*postFilterResult, *fwk.Status) {
	if sd, err := state.Read("DynamicResources"); err == nil {
		firstUnavailable(sd, pod)
	}
	res, st := o.Framework.RunPostFilterPlugins(ctx, state, pod, orderedStatuses{m})
	rec := Rec{"status": status(st)}
	if res != nil && res.NominatingInfo != nil {
		rec["nominate"] = res.NominatingInfo.NominatedNodeName
		rec["mode"] = int(res.NominatingInfo.NominatingMode)
	}
	o.set("postFilter", rec)
	return res, st
}

// orderedStatuses lists nodes in the snapshot's order, where the real one iterates over a map.
type orderedStatuses struct{ nodeToStatusReader }

func (o orderedStatuses) NodesForStatusCode(lister nodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	nodes, err := o.nodeToStatusReader.NodesForStatusCode(lister, code)
	if err != nil {
		return nil, err
	}
	all, err := lister.List()
	if err != nil {
		return nil, err
	}
	index := make(map[string]int, len(all))
	for i, n := range all {
		index[n.Node().Name] = i
	}
	sort.Slice(nodes, func(i, j int) bool { return index[nodes[i].Node().Name] < index[nodes[j].Node().Name] })
	return nodes, nil
}

// observedPreemption writes down the dry runs, and starts them at the first node instead of a random one.
type observedPreemption struct {
	preemption.Interface
	r *recorder
}

func (o *observedPreemption) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	_, wanted := o.Interface.GetOffsetAndNumCandidates(nodes)
	return 0, wanted
}

func field[T any](obj any, name string) T {
	v := reflect.ValueOf(obj).Elem().FieldByName(name)
	return *(*T)(unsafe.Pointer(v.UnsafeAddr()))
}

func keys(pods []*v1.Pod) []string {
	out := make([]string, 0, len(pods))
	for _, p := range pods {
		out = append(out, podKey(p))
	}
	sort.Strings(out)
	return out
}

// orderPreEnqueue makes the queue ask the PreEnqueue plugins in the profile's order, after the one that gates the pod
// already. The real one asks them in the order of a map, which shows when two of them hold a pod.
func orderPreEnqueue(s *scheduler.Scheduler) {
	m := field[map[string]map[string]preEnqueuePlugin](s.SchedulingQueue, "preEnqueuePluginMap")
	for name, f := range s.Profiles {
		gates := map[types.UID]string{}
		plugins := f.PreEnqueuePlugins()
		for i, p := range plugins {
			m[name][p.Name()] = &orderedPreEnqueue{p, plugins[:i], gates}
		}
	}
}

type orderedPreEnqueue struct {
	preEnqueuePlugin
	before []preEnqueuePlugin
	gates  map[types.UID]string
}

func (o *orderedPreEnqueue) PreEnqueue(ctx context.Context, pod *v1.Pod) *fwk.Status {
	st := o.preEnqueuePlugin.PreEnqueue(ctx, pod)
	if o.gates[pod.UID] == o.Name() {
		if st.IsSuccess() {
			delete(o.gates, pod.UID)
		}
		return st
	}
	if st.IsSuccess() {
		return st
	}
	for _, p := range o.before {
		if !p.PreEnqueue(ctx, pod).IsSuccess() {
			return nil // that one gates the pod
		}
	}
	o.gates[pod.UID] = o.Name()
	return st
}
