//go:build k134

package recorder

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

const line = "1.34"

// Names that moved from one package to the other.
type (
	extender            = framework.Extender
	nodeInfoLister      = framework.NodeInfoLister
	plugin              = framework.Plugin
	handle              = framework.Handle
	preFilterResult     = framework.PreFilterResult
	postFilterResult    = framework.PostFilterResult
	nominatingInfo      = framework.NominatingInfo
	preFilterExtensions = framework.PreFilterExtensions
	scoreExtensions     = framework.ScoreExtensions
	nodeScoreList       = framework.NodeScoreList
	nodeToStatusReader  = framework.NodeToStatusReader
	waitingPod          = framework.WaitingPod
	preEnqueuePlugin    = framework.PreEnqueuePlugin
)

const (
	modeNoop     = framework.ModeNoop
	modeOverride = framework.ModeOverride
)

// laterHandle: there are no gangs in this line.
type laterHandle struct{}

// allTiesFree: any of the best nodes may be taken; otherwise an extender must have listed it.
const allTiesFree = true

type eventRecorder = events.EventRecorder

func newInformerFactory(cs *fake.Clientset) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(cs, 10000*time.Hour) // with 0, this line waits on a channel from outside the bubble
}

func clearNominationOnBind() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.ClearingNominatedNodeNameAfterBinding)
}

func (o *observed) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]framework.NodePluginScores, *fwk.Status) {
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
	for name, f := range s.Profiles {
		for _, pl := range field[[]framework.PostFilterPlugin](f, "postFilterPlugins") {
			if d, ok := pl.(*defaultpreemption.DefaultPreemption); ok && !r.bench {
				d.Evaluator.Interface = &observedPreemption{d.Evaluator.Interface, r}
				if r.seeded {
					d.Evaluator.Handler = slowHandle{d.Evaluator.Handler}
				}
			}
		}
		if !r.bench {
			s.Profiles[name] = &observed{f, r, nil}
		}
	}
	next, attempts := s.NextPod, 0
	s.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		before()
		info, err := next(logger)
		r.tookPod()
		if hold != nil {
			hold()
		}
		if info != nil {
			attempts = info.Attempts
		}
		return info, err
	}
	if r.ext != nil && !r.bench {
		for i := range s.Extenders { // the profiles share this slice
			s.Extenders[i] = &observedExtender{s.Extenders[i], r.ext}
		}
	}
	schedule := s.SchedulePod
	s.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *v1.Pod) (scheduler.ScheduleResult, error) {
		r.flushAttempt()
		r.mu.Lock()
		r.cur = Rec{"ev": "attempt", "pod": podKey(pod), "attempts": attempts, "start": field[int](s, "nextStartNodeIndex"), "profile": f.ProfileName(), "began": r.now()}
		if n := pod.Status.NominatedNodeName; n != "" {
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
		res, err := schedule(ctx, f, state, pod)
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
			r.binding[podKey(pod)] = true
		}
		return res, err
	}
	failure := s.FailureHandler
	s.FailureHandler = func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, st *fwk.Status, n *framework.NominatingInfo, start time.Time) {
		r.hasFailed(podKey(info.Pod))
		rec := Rec{"status": status(st)}
		if st.AsError() != nil {
			rec["error"] = st.AsError().Error()
		}
		if n != nil {
			rec["nominate"], rec["mode"] = n.NominatedNodeName, int(n.NominatingMode)
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

// PreBindPreFlight follows the rules.
func (s *scripted) PreBindPreFlight(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	_, st := s.preFlight(pod, node)
	return st
}

// Less of LowFirst.
func (lowFirst) Less(a, b fwk.QueuedPodInfo) bool {
	p, q := priority(a.GetPodInfo().GetPod()), priority(b.GetPodInfo().GetPod())
	return p < q || p == q && a.GetTimestamp().Before(b.GetTimestamp())
}

// slowHandle makes a preemption's goroutine, which asks for the client first, wait until its scheduling cycle is over. This line alone
// takes the preemptor off its list of preempting pods before the last victim goes, so that a quick goroutine would never hold it back.
type slowHandle struct{ framework.Handle }

func (h slowHandle) ClientSet() clientset.Interface {
	time.Sleep(time.Nanosecond)
	return h.Handle.ClientSet()
}
