//go:build k136

package recorder

import (
	"context"
	"sort"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingapi "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

const line = "1.36"

// Names that moved from one package to the other.
type (
	extender            = fwk.Extender
	nodeInfoLister      = fwk.NodeInfoLister
	plugin              = fwk.Plugin
	handle              = fwk.Handle
	preFilterResult     = fwk.PreFilterResult
	postFilterResult    = fwk.PostFilterResult
	nominatingInfo      = fwk.NominatingInfo
	preFilterExtensions = fwk.PreFilterExtensions
	scoreExtensions     = fwk.ScoreExtensions
	nodeScoreList       = fwk.NodeScoreList
	nodeToStatusReader  = fwk.NodeToStatusReader
	waitingPod          = fwk.WaitingPod
	preEnqueuePlugin    = fwk.PreEnqueuePlugin
)

const (
	modeNoop     = fwk.ModeNoop
	modeOverride = fwk.ModeOverride
)

// allTiesFree: any of the best nodes may be taken; otherwise an extender must have listed it.
const allTiesFree = false

type eventRecorder = events.EventRecorderLogger

func newInformerFactory(cs *fake.Clientset) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(cs, 0)
}

func clearNominationOnBind() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.ClearingNominatedNodeNameAfterBinding)
}

func (o *observed) GetNodeHint(ctx context.Context, pod *v1.Pod, sig fwk.PodSignature, state fwk.CycleState, cycle int64) string {
	h := o.Framework.GetNodeHint(ctx, pod, sig, state, cycle)
	if h != "" {
		o.set("hint", h)
	}
	return h
}

func (o *observed) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, st := o.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if !st.IsSuccess() {
		return scores, st
	}
	names, total := make([]string, len(scores)), make([]int64, len(scores))
	final := map[string][]int64{}
	for i, s := range scores {
		names[i], total[i] = s.Name, s.TotalScore
		for _, p := range s.Scores {
			final[p.Name] = append(final[p.Name], p.Score)
		}
	}
	o.r.addScores(names, nil, final, total)
	return scores, st
}

func (o *observedPreemption) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo, pdbs []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	pods, violations, st := o.Interface.SelectVictimsOnNode(ctx, state, pod, info, pdbs)
	rec := Rec{"node": info.Node().Name}
	if st.IsSuccess() {
		names := []string{}
		for _, p := range pods {
			names = append(names, podKey(p))
		}
		rec["victims"], rec["violations"] = names, violations
	} else {
		rec["code"], rec["reasons"] = st.Code().String(), st.Reasons()
	}
	o.r.addDryRun(rec)
	return pods, violations, st
}

// instrument wraps the scheduler's own seams; before runs each time the scheduler is about to ask for the next pod, hold (if
// not nil) when it got one.
func instrument(s *scheduler.Scheduler, r *recorder, hold, before func()) {
	orderPreEnqueue(s)
	if hold != nil {
		orderTies(s)
	}
	for name, f := range s.Profiles {
		for _, pl := range field[[]fwk.PostFilterPlugin](f, "postFilterPlugins") {
			if d, ok := pl.(*defaultpreemption.DefaultPreemption); ok && !r.bench {
				d.Evaluator.Interface = &observedPreemption{d.Evaluator.Interface, r}
			}
		}
		if !r.bench {
			s.Profiles[name] = &observed{f, r, orderAllow(f)}
		}
	}
	s.SchedulingQueue = orderedQueue{s.SchedulingQueue}
	next := s.NextPod
	s.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		r.startGroup("", nil)
		before()
		item, err := next(logger)
		r.tookPod()
		if hold != nil {
			hold()
		}
		if item != nil && item.Pod != nil {
			if g := groupOf(item.Pod); g != "" {
				distinctAttempt(item)
				r.startGroup(g, nil)
			}
		}
		return item, err
	}
	if r.ext != nil && !r.bench {
		for i := range s.Extenders { // the profiles share this slice
			s.Extenders[i] = &observedExtender{s.Extenders[i], r.ext}
		}
	}
	schedule := s.SchedulePod
	s.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		r.flushAttempt()
		r.mu.Lock()
		r.cur = Rec{"ev": "attempt", "pod": podKey(info.Pod), "attempts": info.Attempts, "start": field[int](s, "nextStartNodeIndex"), "profile": f.ProfileName(), "began": r.now()}
		if n := info.Pod.Status.NominatedNodeName; n != "" {
			r.cur["nominatedBefore"] = n
		}
		if r.group != "" {
			r.cur["group"] = r.group
			if r.phase != "" {
				r.cur["phase"] = r.phase
			}
		}
		r.mu.Unlock()
		if r.ext != nil {
			r.ext.begin()
		}
		begin := realTime()
		res, err := schedule(ctx, f, state, info)
		r.cycle(realTime() - begin)
		if r.ext != nil {
			r.ext.end(r)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.cur["error"] = err.Error()
			if fe, ok := err.(*framework.FitError); ok {
				r.cur["unschedulablePlugins"] = sets.List(fe.Diagnosis.UnschedulablePlugins)
				r.cur["pendingPlugins"] = sets.List(fe.Diagnosis.PendingPlugins)
				r.cur["fitError"] = true
			}
		} else {
			r.cur["host"], r.cur["evaluated"], r.cur["feasible"] = res.SuggestedHost, res.EvaluatedNodes, res.FeasibleNodes
			r.binding[podKey(info.Pod)] = true
		}
		return res, err
	}
	failure := s.FailureHandler
	s.FailureHandler = func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, st *fwk.Status, n *fwk.NominatingInfo, start time.Time) {
		r.hasFailed(podKey(info.Pod))
		rec := Rec{"status": status(st)}
		if st.AsError() != nil {
			rec["error"] = st.AsError().Error()
		}
		if n != nil {
			rec["nominate"], rec["mode"] = n.NominatedNodeName, int(n.NominatingMode)
		}
		if g := groupOf(info.Pod); g != "" && g == r.groupNow() {
			r.flushAttempt()
			rec["ev"], rec["pod"], rec["group"] = "groupFailure", podKey(info.Pod), g
			r.emit(rec)
			failure(ctx, f, info, st, n, start)
			return
		}
		r.mu.Lock()
		if r.cur != nil && r.cur["pod"] == podKey(info.Pod) {
			r.cur["failure"] = rec
			r.mu.Unlock()
		} else {
			r.mu.Unlock()
			rec["ev"], rec["pod"] = "bindFailure", podKey(info.Pod)
			r.emit(rec)
		}
		failure(ctx, f, info, st, n, start)
		r.kick()
	}
}

func queueState(s *scheduler.Scheduler) Rec {
	q := s.SchedulingQueue
	info := Rec{}
	all := append(append(append([]*v1.Pod{}, q.PodsInActiveQ()...), q.PodsInBackoffQ()...), q.UnschedulablePods()...)
	for _, p := range all {
		if pi, ok := q.GetPod(p.Name, p.Namespace); ok {
			rec := Rec{"attempts": pi.Attempts}
			if l := sets.List(pi.UnschedulablePlugins); len(l) > 0 {
				rec["unschedulablePlugins"] = l
			}
			if l := sets.List(pi.PendingPlugins); len(l) > 0 {
				rec["pendingPlugins"] = l
			}
			if pi.GatingPlugin != "" {
				rec["gatedBy"] = pi.GatingPlugin
			}
			info[podKey(p)] = rec
		}
	}
	return Rec{"ev": "queue", "active": keys(q.PodsInActiveQ()), "backoff": keys(q.PodsInBackoffQ()), "unschedulable": keys(q.UnschedulablePods()), "info": info}
}

// RunPlacementScorePlugins: see placementScores.
func (o *observed) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, podGroup fwk.PodGroupInfo, placements []*fwk.PodGroupAssignments) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, st := o.Framework.RunPlacementScorePlugins(ctx, state, podGroup, placements)
	if st.IsSuccess() && len(scores) > 0 {
		o.r.placementScores(podGroup.GetNamespace()+"/"+podGroup.GetName(), scores)
	}
	return scores, st
}

// orderedQueue makes the first attempt times of a group's pods distinct, in the order of the pods' creation: the real
// one takes the pods out of a map, and sorts them by priority and these times, which are the same for pods that the
// same event let out of the gate.
type orderedQueue struct{ internalqueue.SchedulingQueue }

func (q orderedQueue) PopSpecificPod(logger klog.Logger, pod *v1.Pod) *framework.QueuedPodInfo {
	info := q.SchedulingQueue.PopSpecificPod(logger, pod)
	if info != nil {
		distinctAttempt(info)
	}
	return info
}

func distinctAttempt(info *framework.QueuedPodInfo) {
	if info.InitialAttemptTimestamp == nil {
		return
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(string(info.Pod.UID), "uid-"))
	t := info.InitialAttemptTimestamp.Truncate(100 * time.Microsecond).Add(time.Duration(n))
	info.InitialAttemptTimestamp = &t
}

// PodGroupPostFilterPlugins returns the plugins of the profile, observed.
func (o *observed) PodGroupPostFilterPlugins() []framework.PodGroupPostFilterPlugin {
	out := []framework.PodGroupPostFilterPlugin{}
	for _, p := range o.Framework.PodGroupPostFilterPlugins() {
		out = append(out, observedGroupPostFilter{p, o.r})
	}
	return out
}

type observedGroupPostFilter struct {
	framework.PodGroupPostFilterPlugin
	r *recorder
}

func (o observedGroupPostFilter) PodGroupPostFilter(ctx context.Context, pg *schedulingapi.PodGroup, pods []*v1.Pod, f func(ctx context.Context) *fwk.Status) *fwk.Status {
	o.r.setPhase("preemption")
	st := o.PodGroupPostFilterPlugin.PodGroupPostFilter(ctx, pg, pods, f)
	o.r.setPhase("")
	o.r.emit(Rec{"ev": "groupPostFilter", "group": pg.Namespace + "/" + pg.Name, "status": status(st)})
	return st
}

func (o *observed) RunPermitPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	wait, st := o.Framework.RunPermitPlugins(ctx, state, pod, node)
	if h := o.later; h != nil {
		sort.Slice(h.pending, func(i, j int) bool { return h.pending[i].GetPod().UID < h.pending[j].GetPod().UID })
		for _, w := range h.pending {
			w.WaitingPod.Allow(w.plugin)
		}
		h.pending = nil
	}
	return wait, st
}

// PreBindPreFlight follows the rules.
func (s *scripted) PreBindPreFlight(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	parallel, st := s.preFlight(pod, node)
	return &fwk.PreBindPreFlightResult{AllowParallel: parallel}, st
}

// Less of LowFirst.
func (lowFirst) Less(a, b fwk.QueuedPodInfo) bool {
	p, q := priority(a.GetPodInfo().GetPod()), priority(b.GetPodInfo().GetPod())
	return p < q || p == q && a.GetTimestamp().Before(b.GetTimestamp())
}
