package recorder

import (
	"context"
	"encoding/json"
	"reflect"
	"sort"
	"testing/synctest"
	"time"

	"k8s.io/kubernetes/pkg/scheduler"
)

// driver moves time on: it lets the scheduler take its pods one by one, makes the steps of the case, and ends it.
type driver struct {
	ctx   context.Context
	s     *server
	r     *recorder
	sched *scheduler.Scheduler
	steps []Step // in order of time
	next  int    // of steps

	// arrive: the scheduler is about to ask for its next pod; gate lets it do so.
	arrive, gate chan struct{}
	// held: an idle scheduler got a pod; release lets its cycle begin.
	held, release chan struct{}
	// wants: the scheduler has arrived, and may be let in from ready on.
	wants bool
	ready time.Time
	// rest is since when nothing is left to do; zero: something is.
	rest time.Time
}

// cycleTime is how long the scheduler is busy with one pod: the cycle's effects come at its start, the next pod is
// taken this much later. It keeps the pods' queue timestamps apart.
const cycleTime = time.Millisecond

// maxPops ends a case with a seed that does not say so itself: a plugin can make the scheduler run in circles.
const maxPops = 400

// restTime is how long nothing may be left to do before a case that ends at rest does so.
const restTime = time.Second

func newDriver(ctx context.Context, s *server, sched *scheduler.Scheduler) *driver {
	d := &driver{ctx: ctx, s: s, r: s.r, sched: sched, arrive: make(chan struct{}), gate: make(chan struct{}), held: make(chan struct{}), release: make(chan struct{})}
	d.steps = append([]Step(nil), s.c.Steps...)
	sort.SliceStable(d.steps, func(i, j int) bool { return d.steps[i].At < d.steps[j].At })
	var hold func()
	// In cases with claims or pod groups, writes that come from several goroutines at one instant are common. There the cycle
	// of a pod that an idle scheduler took begins only when everything of that instant is done.
	if s.c.Claims || len(s.c.Lines) > 0 {
		hold = func() { d.meet(d.held, d.release) }
	}
	instrument(sched, d.r, hold, func() {
		d.r.mu.Lock()
		d.r.running = false
		d.r.mu.Unlock()
		d.r.flushAttempt()
		d.meet(d.arrive, d.gate)
	})
	return d
}

// meet says that the scheduler's goroutine is at a place, and waits there until it may go on.
func (d *driver) meet(here, goOn chan struct{}) {
	select {
	case here <- struct{}{}:
	case <-d.ctx.Done():
		return
	}
	select {
	case <-goOn:
	case <-d.ctx.Done():
	}
}

// queue writes the state of the queue down, where it has changed.
func (d *driver) queue() {
	if d.r.brief {
		return
	}
	q := queueState(d.sched)
	b, _ := json.Marshal(q)
	if string(b) != d.r.lastQ {
		d.r.lastQ = string(b)
		d.r.emit(q)
	}
}

// drive runs the case to its end.
func (d *driver) drive() {
	for {
		// Everything that can run at this instant runs before time moves.
		synctest.Wait()
		if d.cut() {
			d.r.flushAttempt()
			d.r.emit(Rec{"ev": "cut"})
			d.s.final()
			return
		}
		d.queue()
		if d.letGo() || d.takeArrival() {
			continue
		}
		now, due := time.Now(), d.due()
		switch {
		case !now.Before(due) && d.next < len(d.steps):
			d.step()
		case !now.Before(due) || d.s.c.EndAtRest && d.rested(now):
			if !d.r.running { // what is under way at the end is left out
				d.r.flushAttempt()
			}
			d.s.final()
			return
		case d.wants && !now.Before(d.ready) && (d.s.c.Seed == nil || poppable(d.sched)):
			d.wants = false
			d.gate <- struct{}{}
		default:
			d.sleep(now, due)
		}
	}
}

// cut says whether the case has run long enough.
func (d *driver) cut() bool {
	most := d.s.c.MaxPops
	if most == 0 && d.s.c.Seed != nil {
		most = maxPops
	}
	return most > 0 && d.r.pops > most
}

// letGo lets a cycle begin that was held until its instant was done.
func (d *driver) letGo() bool {
	select {
	case <-d.held:
		d.release <- struct{}{}
		return true
	default:
		return false
	}
}

// takeArrival notes that the scheduler asks for its next pod.
func (d *driver) takeArrival() bool {
	if d.wants {
		return false
	}
	select {
	case <-d.arrive:
		d.arrived()
		return true
	default:
		return false
	}
}

func (d *driver) arrived() {
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	d.wants, d.ready = true, d.r.popped.Add(cycleTime)
}

// due is when the next step comes, or the end.
func (d *driver) due() time.Time {
	if d.next < len(d.steps) {
		return d.r.start.Add(seconds(d.steps[d.next].At))
	}
	return d.r.start.Add(seconds(d.s.c.End))
}

func (d *driver) step() {
	st := d.steps[d.next]
	d.r.emit(Rec{"ev": "step", "i": d.next})
	d.next++
	switch {
	case len(st.Create) > 0:
		d.s.create(st.Create)
	case len(st.Update) > 0:
		d.s.update(st.Update)
	case st.Delete != nil:
		d.s.delete(st.Delete)
	}
}

// rested says whether nothing was left to do for a while but what goes on for ever: flushes of the queue.
func (d *driver) rested(now time.Time) bool {
	q := d.sched.SchedulingQueue
	busy := !d.wants || len(q.PodsInActiveQ()) > 0 || len(q.PodsInBackoffQ()) > 0 || d.r.isBinding() || d.s.isEnding()
	switch {
	case busy:
		d.rest = time.Time{}
	case d.rest.IsZero():
		d.rest = now
	}
	return !busy && now.Sub(d.rest) >= restTime
}

// sleep lets time pass, up to the next thing that is to be done.
func (d *driver) sleep(now, due time.Time) {
	until := due
	if d.wants && d.ready.Before(due) {
		until = d.ready
		if !now.Before(d.ready) {
			// Nothing to pop. The queue's own timers tick each second from the start.
			until = d.r.start.Add(now.Sub(d.r.start).Truncate(time.Second) + time.Second)
			if due.Before(until) {
				until = due
			}
		}
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-d.arrive:
		// The scheduler was waiting inside its queue, took a pod, and is done with it.
		d.arrived()
	case <-d.held:
		timer.Stop()
		synctest.Wait()
		d.release <- struct{}{}
	case <-timer.C:
	case <-d.s.kick:
	}
}

// poppable says whether the scheduler would get a pod now. In a case with a seed it is let to its queue only then: otherwise it
// waits inside, and takes a pod in the middle of what else happens at an instant.
func poppable(s *scheduler.Scheduler) bool {
	q := s.SchedulingQueue
	if len(q.PodsInActiveQ()) > 0 {
		return true
	}
	v := reflect.ValueOf(q)
	for v.Kind() != reflect.Struct || !v.FieldByName("backoffQ").IsValid() { // through wrappers
		if v.Kind() == reflect.Struct {
			v = v.Field(0)
		} else {
			v = v.Elem()
		}
	}
	b := v.FieldByName("backoffQ").Elem().Elem()
	if !b.FieldByName("isPopFromBackoffQEnabled").Bool() {
		return false
	}
	h := b.FieldByName("podBackoffQ")
	if !h.IsValid() {
		h = b.FieldByName("entityBackoffQ")
	}
	return h.Elem().FieldByName("data").Elem().FieldByName("queue").Len() > 0
}
