// Package recorder runs cases through the real kube-scheduler and writes down every decision it takes.
//
// The scheduler is the library k8s.io/kubernetes/pkg/scheduler, over an in-memory fake API server. It runs inside a
// testing/synctest bubble: its clock is virtual, and a step is over only when every goroutine of the scheduler is idle.
// Parallelism is 1. What stays free is what the real scheduler draws at random: which of several equally good nodes it
// takes, and orders that come from Go map iteration. README.md has the commands, the format of a case, and what is fixed.
package recorder

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// Run runs one case and returns its trace, one JSON object a line.
func Run(t *testing.T, c *Case) []byte {
	r := &recorder{out: &bytes.Buffer{}, brief: c.Record == "decisions", seeded: c.Seed != nil, binding: map[string]bool{}}
	runCase(t, c, r)
	if c.Seed != nil {
		return inOrder(r.out.Bytes())
	}
	return r.out.Bytes()
}

// Bench runs one case, observes nothing, and says what a scheduling cycle costs the real core.
func Bench(t *testing.T, c *Case) string {
	r := &recorder{out: &bytes.Buffer{}, brief: true, bench: true, seeded: c.Seed != nil, binding: map[string]bool{}}
	runCase(t, c, r)
	if r.cycles == 0 {
		return c.Name + ": no scheduling cycle"
	}
	per := r.spent / time.Duration(r.cycles)
	return fmt.Sprintf("%s: %d scheduling cycles, %v each in the real core, %.0f a second", c.Name, r.cycles, per, float64(time.Second)/float64(per))
}

func runCase(t *testing.T, c *Case, r *recorder) {
	defer setGates(t, c.gates())()
	// A write that met a newer object is tried again after 10 ms, without the random part.
	retry.DefaultRetry.Jitter, retry.DefaultBackoff.Jitter = 0, 0
	// A watch of the fake API server takes so many events before it panics, and a group of pods is bound at one instant.
	apiwatch.DefaultChanSize = 100_000
	// The default handlers sleep between errors by a clock that outlives the bubble.
	utilruntime.ErrorHandlers = nil
	// The runtime starts its signal goroutine on first use, which must not be inside the bubble:
	// the scheduler's cache debugger listens for SIGUSR2.
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGUSR2)
	defer signal.Stop(sig)
	if c.Seed != nil {
		rand.Seed(*c.Seed)
	}
	synctest.Test(t, func(*testing.T) { runInBubble(c, r) })
}

// setGates sets feature gates. The process runs many cases: what it returns sets them back to the line's defaults.
func setGates(t *testing.T, gates map[string]bool) func() {
	before := map[string]bool{}
	all := utilfeature.DefaultMutableFeatureGate.GetAll()
	for k := range gates {
		if spec, ok := all[featuregate.Feature(k)]; ok {
			before[k] = spec.Default
		}
	}
	set := func(values map[string]bool) {
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(values); err != nil {
			t.Fatal(err)
		}
	}
	set(gates)
	return func() { set(before) }
}

// runInBubble runs the case where time is virtual.
func runInBubble(c *Case, r *recorder) {
	ctx, cancel := context.WithCancel(context.Background())
	// A pod that waits for a permit does so for up to 15 minutes, whatever becomes of the context.
	defer func() { cancel(); time.Sleep(16 * time.Minute); synctest.Wait() }()
	if c.Start != nil {
		time.Sleep(time.Until(*c.Start)) // the bubble's clock begins in the year 2000
	}
	r.start = time.Now()
	s := &server{c: c, r: r, gone: map[string]Rec{}, ending: map[time.Time][]func(){}, kick: make(chan struct{}, 1)}
	r.kick = s.wake
	sched, factory, err := newScheduler(ctx, s)
	if err != nil {
		r.emit(Rec{"ev": "configError", "message": err.Error()})
		return
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	synctest.Wait()
	d := newDriver(ctx, s, sched)
	s.createAll()
	r.start, r.started = time.Now(), true
	d.queue()
	go sched.Run(ctx)
	d.drive()
}

func newScheduler(ctx context.Context, s *server) (*scheduler.Scheduler, informers.SharedInformerFactory, error) {
	cs := s.clientset()
	cfg, err := loadConfig(s.c.Config)
	if err != nil {
		return nil, nil, err
	}
	if len(s.c.ExtenderServers) > 0 {
		s.r.ext = startExtenders(ctx, s, cs, s.c.ExtenderServers)
	}
	factory := newInformerFactory(cs)
	var client clientset.Interface = cs
	if s.c.Seed != nil {
		client = lateClient{cs}
	}
	sched, err := scheduler.New(ctx, client, factory, nil,
		profile.RecorderFactory(func(string) eventRecorder { return eventSink{s.r} }),
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds),
		scheduler.WithExtenders(cfg.Extenders...),
		scheduler.WithParallelism(1),
		scheduler.WithFrameworkOutOfTreeRegistry(outOfTree(s.r)),
	)
	return sched, factory, err
}

// createAll creates the objects of the case, and lets the stand-ins look at them, before time begins.
func (s *server) createAll() {
	for _, raw := range s.c.Objects {
		s.create(raw)
		time.Sleep(time.Millisecond)
		synctest.Wait()
	}
	if s.c.Provision {
		s.reconcileVolumes()
		time.Sleep(10 * time.Millisecond)
	}
	if s.c.Claims {
		s.kickClaims()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
	}
}
