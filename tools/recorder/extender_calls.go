package recorder

import (
	"context"
	"errors"

	"net/url"
	"sort"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// finished writes down one call as the scheduler saw it.
func (e *extenders) finished(prefix, verb, pod string, from float64, err error, hold bool) {
	x := e.byURL(prefix)
	name := prefix
	if x != nil {
		name = x.Name
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	k := name + "/" + verb + "/" + pod
	ex := e.last[k]
	delete(e.last, k)
	now := e.s.r.now()
	rec := Rec{"ev": "extender", "extender": name, "verb": verb, "pod": pod, "t": now}
	if now != from {
		rec["from"] = from
	}
	if ex == nil {
		rec["answered"] = false // refused
	} else {
		rec["request"] = ex.request
		rec["rule"] = ex.rule
		if ex.delay > 0 {
			rec["delay"] = ex.delay
		}
		switch {
		case ex.dropped:
			rec["dropped"] = true
		case ex.raw != nil:
			rec["status"], rec["body"] = ex.status, *ex.raw
		default:
			rec["status"] = ex.status
			rec["response"] = any(ex.response)
			if l, ok := ex.response["list"]; ok {
				rec["response"] = l
			}
		}
	}
	if err != nil {
		rec["error"] = err.Error()
	}
	if e.s.r.brief {
		return
	}
	if hold {
		e.prio = append(e.prio, rec)
		return
	}
	e.s.r.emit(rec)
}

// begin forgets the last attempt's scores.
func (e *extenders) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.prio, e.added, e.lists, e.asked = nil, map[string]map[string]int64{}, map[string]bool{}, false
}

// scored notes what an interested extender adds to each node.
func (e *extenders) scored(prefix string, list *extenderv1.HostPriorityList, weight int64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = true
	if err != nil || list == nil {
		return
	}
	name := prefix
	if x := e.byURL(prefix); x != nil {
		name = x.Name
	}
	if e.added[name] == nil {
		e.added[name] = map[string]int64{}
	}
	for _, h := range *list {
		e.added[name][h.Host] += h.Score * weight * 10
		e.lists[h.Host] = true
	}
}

// end writes the attempt's prioritize calls, in the order of their extenders, and adds them to its scores.
func (e *extenders) end(r *recorder) {
	e.mu.Lock()
	order := map[string]int{}
	for i, x := range e.list {
		order[x.Name] = i
	}
	prio := e.prio
	e.prio = nil
	sort.SliceStable(prio, func(i, j int) bool { return order[prio[i]["extender"].(string)] < order[prio[j]["extender"].(string)] })
	added, lists, asked := e.added, e.lists, e.asked
	e.mu.Unlock()
	for _, rec := range prio {
		r.emit(rec)
	}
	if !asked {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sc, _ := r.cur["scores"].(Rec)
	if sc == nil {
		return
	}
	names, total := sc["nodes"].([]string), append([]int64{}, sc["total"].([]int64)...)
	cols := Rec{}
	for x, m := range added {
		col := make([]any, len(names))
		for i, n := range names {
			if v, ok := m[n]; ok {
				col[i] = v
				total[i] += v
			}
		}
		cols[x] = col
	}
	sc["extenders"], sc["final"] = cols, total
	top := maxOf(total)
	bestSet, freeSet := map[string]bool{}, map[string]bool{}
	for i, n := range names {
		if total[i] == top {
			bestSet[n] = true
			if allTiesFree || lists[n] {
				freeSet[n] = true
			}
		}
	}
	r.cur["best"] = sortedSet(bestSet)
	if len(freeSet) > 1 {
		r.cur["free"] = sortedSet(freeSet)
	}
}

func sortedSet(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// observedExtender writes down what the scheduler gets from an extender.
type observedExtender struct {
	extender
	e *extenders
}

func (o *observedExtender) Filter(pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	from := o.e.s.r.now()
	out, failed, unresolvable, err := o.extender.Filter(pod, nodes)
	err = realTimeout(err)
	if o.IsFilter() {
		o.e.finished(o.Name(), "filter", podKey(pod), from, err, false)
	}
	return out, failed, unresolvable, err
}

func (o *observedExtender) Prioritize(pod *v1.Pod, nodes []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	from := o.e.s.r.now()
	list, weight, err := o.extender.Prioritize(pod, nodes)
	err = realTimeout(err)
	if o.IsPrioritizer() {
		o.e.finished(o.Name(), "prioritize", podKey(pod), from, err, true)
	}
	o.e.scored(o.Name(), list, weight, err)
	return list, weight, err
}

func (o *observedExtender) Bind(b *v1.Binding) error {
	from := o.e.s.r.now()
	err := realTimeout(o.extender.Bind(b))
	o.e.finished(o.Name(), "bind", b.Namespace+"/"+b.Name, from, err, false)
	return err
}

func (o *observedExtender) ProcessPreemption(pod *v1.Pod, m map[string]*extenderv1.Victims, lister nodeInfoLister) (map[string]*extenderv1.Victims, error) {
	from := o.e.s.r.now()
	out, err := o.extender.ProcessPreemption(pod, m, lister)
	err = realTimeout(err)
	o.e.finished(o.Name(), "preempt", podKey(pod), from, err, false)
	return out, err
}

// realTimeout restores the text of a timeout: net/http adds the words in brackets if the clock is past the deadline when it
// looks, which is always so outside; in the bubble the clock stands exactly at the deadline.
func realTimeout(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) && errors.Is(ue.Err, context.DeadlineExceeded) && ue.Err.Error() == context.DeadlineExceeded.Error() {
		return &url.Error{Op: ue.Op, URL: ue.URL, Err: errors.New(context.DeadlineExceeded.Error() + " (Client.Timeout exceeded while awaiting headers)")}
	}
	return err
}
