package recorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

type scripted struct {
	name string
	a    ScriptedArgs
	h    handle
	r    *recorder
	mu   sync.Mutex
	n    map[string]int
}

// scriptedFull also registers events and signs pods.
type scriptedFull struct{ *scripted }

func newScripted(name string, r *recorder, o runtime.Object, h handle) (*scripted, error) {
	s := &scripted{name: name, h: h, r: r, n: map[string]int{}}
	if err := frameworkruntime.DecodeInto(o, &s.a); err != nil {
		return nil, err
	}
	if s.a.FactoryError != "" {
		return nil, errors.New(s.a.FactoryError)
	}
	return s, nil
}

func (s *scripted) Name() string { return s.name }

var codeNames = map[string]fwk.Code{"": fwk.Success, "Success": fwk.Success, "Error": fwk.Error, "Unschedulable": fwk.Unschedulable,
	"UnschedulableAndUnresolvable": fwk.UnschedulableAndUnresolvable, "Wait": fwk.Wait, "Skip": fwk.Skip, "Pending": fwk.Pending}

func makeStatus(code string, message *string) *fwk.Status {
	c, ok := codeNames[code]
	if !ok {
		panic("no such code: " + code)
	}
	switch {
	case c == fwk.Success:
		return nil
	case c == fwk.Error && message != nil:
		return fwk.AsStatus(errors.New(*message))
	case message == nil:
		return fwk.NewStatus(c)
	}
	return fwk.NewStatus(c, *message)
}

func (r *Rule) status() *fwk.Status {
	if r == nil {
		return nil
	}
	return makeStatus(r.Code, r.Message)
}

// called counts a call of a point for a pod.
func (s *scripted) called(point string, pod *v1.Pod) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n[point+" "+podKey(pod)]++
	return s.n[point+" "+podKey(pod)]
}

func labelsHold(want, have map[string]string) bool {
	for k, v := range want {
		if have[k] != v {
			return false
		}
	}
	return true
}

func within(n int, r *[2]int) bool { return r == nil || n >= r[0] && n <= r[1] }

func (s *scripted) holds(w *RuleWhen, pod *v1.Pod, call int, other *v1.Pod) bool {
	if !labelsHold(w.PodLabel, pod.Labels) || !within(call, w.Calls) {
		return false
	}
	if w.NoLabel != "" {
		if _, ok := pod.Labels[w.NoLabel]; ok {
			return false
		}
	}
	if w.PodHash != nil && !w.PodHash.holds(podKey(pod)) {
		return false
	}
	if w.Cycle != nil {
		s.mu.Lock()
		n := s.n["PreFilter "+podKey(pod)]
		s.mu.Unlock()
		if !within(n, w.Cycle) {
			return false
		}
	}
	if len(w.OtherLabel) > 0 && (other == nil || !labelsHold(w.OtherLabel, other.Labels)) {
		return false
	}
	return true
}

// find returns the first rule that holds, or nil. node is nil where only its name is known.
func (s *scripted) find(rules []Rule, pod *v1.Pod, call int, info fwk.NodeInfo, name string, state fwk.CycleState, other *v1.Pod) *Rule {
	for i := range rules {
		r := &rules[i]
		if !s.holds(&r.When, pod, call, other) {
			continue
		}
		var node *v1.Node
		if info != nil {
			node, name = info.Node(), info.Node().Name
		}
		if !r.Match.matches(pod, node, name) {
			continue
		}
		if r.Match.PodsAtLeast > 0 && (info == nil || len(info.GetPods()) < r.Match.PodsAtLeast) {
			continue
		}
		if r.Match.CountAtLeast > 0 && s.count(state, name) < r.Match.CountAtLeast {
			continue
		}
		return r
	}
	return nil
}

// record writes down a call that shows nowhere else.
func (s *scripted) record(point string, pod *v1.Pod, node string, st *fwk.Status, more Rec) {
	if s.r.brief || !s.r.started {
		return
	}
	rec := Rec{"ev": "plugin", "plugin": s.name, "point": point, "pod": podKey(pod)}
	if node != "" {
		rec["node"] = node
	}
	if !st.IsSuccess() {
		rec["code"], rec["reasons"] = st.Code().String(), st.Reasons()
	}
	for k, v := range more {
		rec[k] = v
	}
	s.r.emit(rec)
}

// PreEnqueue and the rest follow the rules.
func (s *scripted) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	st := s.find(s.a.PreEnqueue, pod, s.called("PreEnqueue", pod), nil, "", nil, nil).status()
	if !st.IsSuccess() { // the queue asks the plugins in the order of a Go map, up to the first that refuses
		s.record("PreEnqueue", pod, "", st, nil)
	}
	return st
}

// counts holds, per node, the pods whose labels are ScriptedArgs.Count.
type counts map[string]int

func (c counts) Clone() fwk.StateData {
	out := counts{}
	for k, v := range c {
		out[k] = v
	}
	return out
}

func (s *scripted) key() fwk.StateKey { return fwk.StateKey("recorder/" + s.name) }

func (s *scripted) count(state fwk.CycleState, node string) int {
	if state == nil {
		return 0
	}
	d, err := state.Read(s.key())
	if err != nil {
		return 0
	}
	return d.(counts)[node]
}

func (s *scripted) counted(p *v1.Pod) bool {
	return len(s.a.Count) > 0 && labelsHold(s.a.Count, p.Labels)
}

func (s *scripted) PreFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*preFilterResult, *fwk.Status) {
	call := s.called("PreFilter", pod)
	if len(s.a.Count) > 0 {
		c := counts{}
		for _, n := range nodes {
			for _, p := range n.GetPods() {
				if s.counted(p.GetPod()) {
					c[n.Node().Name]++
				}
			}
		}
		state.Write(s.key(), c)
	}
	r := s.find(s.a.PreFilter, pod, call, nil, "", nil, nil)
	if r == nil {
		return nil, nil
	}
	var res *preFilterResult
	if r.Nodes != nil {
		res = &preFilterResult{NodeNames: sets.New(*r.Nodes...)}
	} else if r.NodesLabel != nil {
		set := sets.New[string]()
		for _, n := range nodes {
			if labelsHold(r.NodesLabel, n.Node().Labels) {
				set.Insert(n.Node().Name)
			}
		}
		res = &preFilterResult{NodeNames: set}
	}
	return res, r.status()
}

func (s *scripted) PreFilterExtensions() preFilterExtensions {
	if len(s.a.Count) == 0 && s.a.AddPod == nil && s.a.RemovePod == nil {
		return nil
	}
	return s
}

func (s *scripted) AddPod(_ context.Context, state fwk.CycleState, pod *v1.Pod, other fwk.PodInfo, info fwk.NodeInfo) *fwk.Status {
	s.bump(state, other.GetPod(), info, 1)
	return s.find(s.a.AddPod, pod, 0, info, "", state, other.GetPod()).status()
}

func (s *scripted) RemovePod(_ context.Context, state fwk.CycleState, pod *v1.Pod, other fwk.PodInfo, info fwk.NodeInfo) *fwk.Status {
	s.bump(state, other.GetPod(), info, -1)
	return s.find(s.a.RemovePod, pod, 0, info, "", state, other.GetPod()).status()
}

func (s *scripted) bump(state fwk.CycleState, p *v1.Pod, info fwk.NodeInfo, by int) {
	if d, err := state.Read(s.key()); err == nil && s.counted(p) {
		d.(counts)[info.Node().Name] += by
	}
}

func (s *scripted) Filter(_ context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	return s.find(s.a.Filter, pod, 0, info, "", state, nil).status()
}

func (s *scripted) PostFilter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ nodeToStatusReader) (*postFilterResult, *fwk.Status) {
	r := s.find(s.a.PostFilter, pod, s.called("PostFilter", pod), nil, "", nil, nil)
	var res *postFilterResult
	st := fwk.NewStatus(fwk.Unschedulable)
	if r != nil {
		st = r.status()
		switch r.Result {
		case "noop":
			res = &postFilterResult{NominatingInfo: &nominatingInfo{NominatingMode: modeNoop, NominatedNodeName: r.Nominate}}
		case "override":
			res = &postFilterResult{NominatingInfo: &nominatingInfo{NominatingMode: modeOverride, NominatedNodeName: r.Nominate}}
		}
	}
	s.record("PostFilter", pod, "", st, nil)
	return res, st
}

func (s *scripted) PreScore(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	return s.find(s.a.PreScore, pod, 0, nil, "", nil, nil).status()
}

func (s *scripted) Score(_ context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	r := s.find(s.a.Score, pod, 0, info, "", state, nil)
	if r == nil {
		return 0, nil
	}
	score := r.Score
	if r.ScoreLabel != "" {
		if k, err := strconv.ParseInt(info.Node().Labels[r.ScoreLabel], 10, 64); err == nil {
			score = k
		}
	}
	if r.ScoreHash != 0 {
		score = int64(fnv32(podKey(pod)+"@"+info.Node().Name) % r.ScoreHash)
	}
	return score, r.status()
}

func (s *scripted) ScoreExtensions() scoreExtensions {
	if s.a.Normalize == nil {
		return nil
	}
	return s
}

func (s *scripted) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *v1.Pod, scores nodeScoreList) *fwk.Status {
	switch n := s.a.Normalize; n.Mode {
	case "default":
		return helper.DefaultNormalizeScore(100, n.Reverse, scores)
	case "add":
		for i := range scores {
			scores[i].Score += n.Add
		}
	case "fail":
		return makeStatus(n.Code, &n.Message)
	}
	return nil
}

func (s *scripted) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	st := s.find(s.a.Reserve, pod, s.called("Reserve", pod), nil, node, nil, nil).status()
	s.record("Reserve", pod, node, st, nil)
	return st
}

func (s *scripted) Unreserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) {
	s.record("Unreserve", pod, node, nil, nil)
}

func (s *scripted) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) (*fwk.Status, time.Duration) {
	r := s.find(s.a.Permit, pod, s.called("Permit", pod), nil, node, nil, nil)
	st := r.status()
	s.record("Permit", pod, node, st, nil)
	if r == nil {
		return nil, 0
	}
	s.signal(r)
	return st, seconds(r.Timeout)
}

// signal allows and rejects waiting pods, by name.
func (s *scripted) signal(r *Rule) {
	if r == nil || r.Allow == nil && r.Reject == nil {
		return
	}
	var waiting []waitingPod
	s.h.IterateOverWaitingPods(func(w waitingPod) { waiting = append(waiting, w) })
	sort.Slice(waiting, func(i, j int) bool { return podKey(waiting[i].GetPod()) < podKey(waiting[j].GetPod()) })
	for _, w := range waiting {
		switch p := w.GetPod(); {
		case r.Allow != nil && labelsHold(r.Allow.PodLabel, p.Labels):
			s.record("Allow", p, "", nil, nil)
			w.Allow(s.name)
		case r.Reject != nil && labelsHold(r.Reject.PodLabel, p.Labels):
			s.record("Reject", p, "", nil, nil)
			w.Reject(s.name, r.Reject.Message)
		}
	}
}

func (s *scripted) preFlight(pod *v1.Pod, node string) (bool, *fwk.Status) {
	r := s.find(s.a.PreBindPreFlight, pod, s.called("PreBindPreFlight", pod), nil, node, nil, nil)
	st := r.status()
	s.record("PreBindPreFlight", pod, node, st, nil)
	return r != nil && r.Parallel, st
}

func pause(ctx context.Context, length float64) error {
	if length <= 0 {
		return nil
	}
	t := time.NewTimer(seconds(length))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *scripted) PreBind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	r := s.find(s.a.PreBind, pod, s.called("PreBind", pod), nil, node, nil, nil)
	st := r.status()
	if r != nil {
		if err := pause(ctx, r.Delay); err != nil {
			st = fwk.AsStatus(err)
		}
	}
	s.record("PreBind", pod, node, st, nil)
	return st
}

func (s *scripted) Bind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	r := s.find(s.a.Bind, pod, s.called("Bind", pod), nil, node, nil, nil)
	st := fwk.NewStatus(fwk.Skip)
	if r != nil {
		st = r.status()
		if err := pause(ctx, r.Delay); err != nil {
			st = fwk.AsStatus(err)
		} else if st.IsSuccess() && r.Do != "none" {
			if err := s.h.ClientSet().CoreV1().Pods(pod.Namespace).Bind(ctx, &v1.Binding{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
				Target:     v1.ObjectReference{Kind: "Node", Name: node}}, metav1.CreateOptions{}); err != nil {
				st = fwk.AsStatus(err)
			}
		}
	}
	s.record("Bind", pod, node, st, nil)
	return st
}

func (s *scripted) PostBind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) {
	s.record("PostBind", pod, node, nil, nil)
	s.signal(s.find(s.a.PostBind, pod, s.called("PostBind", pod), nil, node, nil, nil))
}

var actionNames = map[string]fwk.ActionType{"Add": fwk.Add, "Delete": fwk.Delete, "Update": fwk.Update, "All": fwk.All,
	"UpdateNodeAllocatable": fwk.UpdateNodeAllocatable, "UpdateNodeLabel": fwk.UpdateNodeLabel, "UpdateNodeTaint": fwk.UpdateNodeTaint,
	"UpdateNodeCondition": fwk.UpdateNodeCondition, "UpdateNodeAnnotation": fwk.UpdateNodeAnnotation, "UpdatePodLabel": fwk.UpdatePodLabel,
	"UpdatePodScaleDown": fwk.UpdatePodScaleDown, "UpdatePodToleration": fwk.UpdatePodToleration,
	"UpdatePodSchedulingGatesEliminated": fwk.UpdatePodSchedulingGatesEliminated}

// EventsToRegister lists the configured events.
func (s *scriptedFull) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	if s.a.EventsError != "" {
		return nil, errors.New(s.a.EventsError)
	}
	var out []fwk.ClusterEventWithHint
	for _, e := range s.a.Events {
		var action fwk.ActionType
		for _, a := range e.Actions {
			action |= actionNames[a]
		}
		w := fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: fwk.EventResource(e.Resource), ActionType: action}}
		if e.Hint != nil {
			w.QueueingHintFn = func(_ klog.Logger, pod *v1.Pod, oldObj, newObj interface{}) (fwk.QueueingHint, error) {
				return s.hint(&e, pod, oldObj, newObj)
			}
		}
		out = append(out, w)
	}
	return out, nil
}

func (s *scripted) hint(e *EventRule, pod *v1.Pod, oldObj, newObj interface{}) (fwk.QueueingHint, error) {
	obj := newObj
	if obj == nil {
		obj = oldObj
	}
	name, objLabels := "", map[string]string(nil)
	if m, err := meta.Accessor(obj); err == nil {
		name, objLabels = m.GetName(), m.GetLabels()
	}
	answer, call := "Queue", s.called("Hint", pod)
	for i := range e.Hint {
		if h := &e.Hint[i]; s.holds(&h.When, pod, call, nil) && labelsHold(h.ObjLabel, objLabels) {
			answer = h.Answer
			break
		}
	}
	if hints {
		s.record("Hint", pod, "", nil, Rec{"resource": e.Resource, "object": name, "answer": answer})
	}
	switch answer {
	case "Skip":
		return fwk.QueueSkip, nil
	case "Error":
		return fwk.QueueSkip, fmt.Errorf("the hint of %s fails", s.name)
	}
	return fwk.Queue, nil
}

// hints: calls of hint functions are written down. Which of them the queue calls depends on the order of Go maps.
var hints = os.Getenv("SCHEDSIM_RECORDER_HINTS") != ""
