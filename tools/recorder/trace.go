package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"sync"
	"syscall"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// Rec is one line of the trace.
type Rec map[string]any

type recorder struct {
	mu    sync.Mutex
	start time.Time
	out   *bytes.Buffer
	cur   Rec
	lastQ string
	brief bool
	// bench: nothing is observed; the real time spent in SchedulePod is added up.
	bench  bool
	cycles int
	spent  time.Duration
	// popped is when the scheduler last got a pod from its queue.
	popped time.Time
	// group is the pod group whose cycle is under way, phase what the cycle is at (empty: scheduling, or preemption).
	group, phase string
	ext          *extenders
	seeded       bool
	// running: a pod is being scheduled. An extender or a plugin can make that take time.
	running bool
	// started: the objects are there and time has begun.
	started bool
	// pops counts what came out of the queue.
	pops int
	// kick says that something may have come into the queue.
	kick func()
	// done: the final state is written. What is cut off by the end of the case is not part of it.
	done bool
	// binding has the pods that got a node and are neither bound nor back in the queue.
	binding map[string]bool
}

func (r *recorder) now() float64 {
	d := time.Since(r.start)
	return float64(d.Microseconds()) / 1e6
}

func (r *recorder) emit(rec Rec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.emitLocked(rec)
}

func (r *recorder) emitLocked(rec Rec) {
	if r.done && (r.seeded || rec["ev"] != "gone") {
		return
	}
	if rec["ev"] == "bind" || rec["ev"] == "gone" {
		delete(r.binding, rec["pod"].(string))
	}
	if _, ok := rec["t"]; !ok {
		rec["t"] = r.now()
	}
	b, err := json.Marshal(rec)
	if err != nil {
		panic(err)
	}
	r.out.Write(b)
	r.out.WriteByte('\n')
	if r.out.Len() > 200<<20 {
		panic("the trace has more than 200 MB: does the case never come to rest? Its end is " + string(r.out.Bytes()[r.out.Len()-4000:]))
	}
}

// realTime is the time outside the bubble.
func realTime() time.Duration {
	var ts syscall.Timespec
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano())
}

func (r *recorder) cycle(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cycles++
	r.spent += d
}

func (r *recorder) tookPod() {
	r.mu.Lock()
	r.popped = time.Now()
	r.pops++
	r.running = true
	r.mu.Unlock()
}

// hasFailed notes that a pod goes back to the queue.
func (r *recorder) hasFailed(pod string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.binding, pod)
}

// isBinding says whether a pod with a node waits for its binding.
func (r *recorder) isBinding() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.binding) > 0
}

// startGroup: the cycle of a pod group begins ("": none).
func (r *recorder) startGroup(group string, rec Rec) {
	r.mu.Lock()
	r.group, r.phase = group, ""
	r.mu.Unlock()
	if group != "" && !r.bench {
		if rec == nil {
			rec = Rec{}
		}
		rec["ev"], rec["group"] = "group", group
		r.emit(rec)
	}
}

func (r *recorder) groupNow() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.group
}

// setPhase says what a pod group's cycle is at.
func (r *recorder) setPhase(phase string) {
	r.flushAttempt()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase = phase
}

// flushAttempt writes the attempt under way, if there is one.
func (r *recorder) flushAttempt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cur != nil {
		cur := r.cur
		r.cur = nil
		if cur["began"] == r.now() {
			delete(cur, "began")
		}
		if r.seeded {
			sortNodes(cur)
		}
		r.emitLocked(cur)
	}
}

// addScores puts the scores of one attempt into the trace: the nodes with the highest total are free choices.
func (r *recorder) addScores(names []string, raw, weighted map[string][]int64, total []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cur == nil {
		return
	}
	var best []string
	top := maxOf(total)
	for i, n := range names {
		if total[i] == top {
			best = append(best, n)
		}
	}
	sort.Strings(best)
	r.cur["best"] = best
	if r.brief {
		r.cur["bestScore"] = top
		return
	}
	rec := Rec{"nodes": names, "weighted": weighted, "total": total}
	if len(raw) > 0 {
		rec["raw"] = raw
	}
	r.cur["scores"] = rec
}

// addDryRun puts the preemption dry run on one node into the trace.
func (r *recorder) addDryRun(rec Rec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cur != nil && !r.brief {
		list, _ := r.cur["dryRun"].([]Rec)
		r.cur["dryRun"] = append(list, rec)
	}
}

func maxOf(xs []int64) int64 {
	m := xs[0]
	for _, x := range xs {
		m = max(m, x)
	}
	return m
}

func podKey(p *v1.Pod) string { return p.Namespace + "/" + p.Name }

type eventSink struct{ r *recorder }

func (e eventSink) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...interface{}) {
	rec := Rec{"ev": "event", "type": eventtype, "reason": reason, "action": action, "note": fmt.Sprintf(note, args...)}
	if p, ok := regarding.(*v1.Pod); ok {
		rec["pod"] = podKey(p)
	}
	e.r.emit(rec)
}
func (e eventSink) WithLogger(klog.Logger) events.EventRecorderLogger { return e }
