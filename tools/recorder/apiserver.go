package recorder

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
)

// server is the fake API server's writable side.
type server struct {
	mu      sync.Mutex
	tracker clienttesting.ObjectTracker
	rv      int64
	uid     int
	// names counts the names generated so far; claimsDue: a claim reconciliation is under way.
	names     int
	claimsDue bool
	c         *Case
	r         *recorder
	gone      map[string]Rec
	// ending has what ends the terminating pods of an instant.
	ending map[time.Time][]func()
	// kick wakes the driver: something has changed.
	kick chan struct{}
}

func seconds(x float64) time.Duration { return time.Duration(math.Round(x * float64(time.Second))) }

var gvrs = map[string]string{
	"Pod": "pods", "Node": "nodes", "PersistentVolumeClaim": "persistentvolumeclaims", "PersistentVolume": "persistentvolumes",
	"StorageClass": "storageclasses", "CSINode": "csinodes", "CSIDriver": "csidrivers", "CSIStorageCapacity": "csistoragecapacities",
	"Namespace": "namespaces", "Service": "services", "ReplicationController": "replicationcontrollers", "ReplicaSet": "replicasets",
	"StatefulSet": "statefulsets", "PodDisruptionBudget": "poddisruptionbudgets", "PriorityClass": "priorityclasses",
	"ResourceClaim": "resourceclaims", "ResourceClaimTemplate": "resourceclaimtemplates", "ResourceSlice": "resourceslices",
	"DeviceClass": "deviceclasses", "VolumeAttachment": "volumeattachments", "PodGroup": "podgroups", "Workload": "workloads",
	"Deployment": "deployments", "Job": "jobs",
}

func gvrOf(gvk schema.GroupVersionKind) schema.GroupVersionResource {
	res, ok := gvrs[gvk.Kind]
	if !ok {
		res = strings.ToLower(gvk.Kind) + "s"
	}
	return gvk.GroupVersion().WithResource(res)
}

// decode returns nil for an object of a kind, or of a version of it, that this line does not have.
func decode(raw json.RawMessage) (runtime.Object, schema.GroupVersionKind) {
	obj, gvk, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		if runtime.IsNotRegisteredError(err) {
			return nil, schema.GroupVersionKind{}
		}
		panic(fmt.Errorf("decode %s: %w", string(raw[:min(len(raw), 200)]), err))
	}
	return obj, *gvk
}

func (s *server) nextRV() string {
	s.wake()
	s.rv++
	return strconv.FormatInt(s.rv, 10)
}

func (s *server) wake() {
	if s.c.Seed == nil {
		return
	}
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// prepare fills in what an API server would.
func (s *server) prepare(obj runtime.Object, create bool) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(err)
	}
	m.SetResourceVersion(s.nextRV())
	if create {
		if m.GetUID() == "" {
			s.uid++
			m.SetUID(types.UID(fmt.Sprintf("uid-%06d", s.uid)))
		}
		if ts := m.GetCreationTimestamp(); ts.IsZero() {
			m.SetCreationTimestamp(metav1.NewTime(time.Now()))
		}
	}
	if p, ok := obj.(*v1.Pod); ok {
		defaultPod(p)
	}
	return m
}

// defaultPod applies the defaults of the API that scheduling looks at.
func defaultPod(p *v1.Pod) {
	if p.Spec.SchedulerName == "" {
		p.Spec.SchedulerName = v1.DefaultSchedulerName
	}
	if p.Status.Phase == "" {
		p.Status.Phase = v1.PodPending
	}
	fill := func(cs []v1.Container) {
		for i := range cs {
			c := &cs[i]
			for name, q := range c.Resources.Limits {
				if _, ok := c.Resources.Requests[name]; !ok {
					if c.Resources.Requests == nil {
						c.Resources.Requests = v1.ResourceList{}
					}
					c.Resources.Requests[name] = q.DeepCopy()
				}
			}
			for j := range c.Ports {
				if c.Ports[j].Protocol == "" {
					c.Ports[j].Protocol = v1.ProtocolTCP
				}
				if p.Spec.HostNetwork && c.Ports[j].HostPort == 0 {
					c.Ports[j].HostPort = c.Ports[j].ContainerPort
				}
			}
		}
	}
	fill(p.Spec.Containers)
	fill(p.Spec.InitContainers)
}

func (s *server) create(raw json.RawMessage) {
	obj, gvk := decode(raw)
	if obj == nil {
		return
	}
	s.createObj(obj, gvk)
	s.kickClaims()
}

func (s *server) createObj(obj runtime.Object, gvk schema.GroupVersionKind) {
	s.mu.Lock()
	m := s.prepare(obj, true)
	s.mu.Unlock()
	if err := s.tracker.Create(gvrOf(gvk), obj, m.GetNamespace()); err != nil {
		s.r.emit(Rec{"ev": "apiError", "verb": "create", "message": err.Error()})
	}
}

func (s *server) update(raw json.RawMessage) {
	obj, gvk := decode(raw)
	if obj == nil {
		return
	}
	defer s.kickClaims()
	m, _ := meta.Accessor(obj)
	old, err := s.tracker.Get(gvrOf(gvk), m.GetNamespace(), m.GetName())
	if err != nil {
		s.r.emit(Rec{"ev": "apiError", "verb": "update", "message": err.Error()})
		return
	}
	om, _ := meta.Accessor(old)
	m.SetUID(om.GetUID())
	m.SetCreationTimestamp(om.GetCreationTimestamp())
	if p, ok := obj.(*v1.Pod); ok {
		op := old.(*v1.Pod)
		if p.Spec.NodeName == "" {
			p.Spec.NodeName = op.Spec.NodeName
		}
		if len(p.Status.Conditions) == 0 {
			p.Status.Conditions = op.Status.Conditions
		}
		if p.Status.NominatedNodeName == "" {
			p.Status.NominatedNodeName = op.Status.NominatedNodeName
		}
		if len(p.Status.ResourceClaimStatuses) == 0 {
			p.Status.ResourceClaimStatuses = op.Status.ResourceClaimStatuses
		}
		if p.Status.ExtendedResourceClaimStatus == nil {
			p.Status.ExtendedResourceClaimStatus = op.Status.ExtendedResourceClaimStatus
		}
	}
	keepClaim(obj, old)
	s.mu.Lock()
	s.prepare(obj, false)
	s.mu.Unlock()
	if p, ok := obj.(*v1.Pod); ok && (p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed) {
		// The scheduler's pod informer selects on the phase, so a terminal pod is a deletion to it.
		s.remember(p)
		_ = s.tracker.Delete(gvrOf(gvk), p.Namespace, p.Name)
		return
	}
	if err := s.tracker.Update(gvrOf(gvk), obj, m.GetNamespace()); err != nil {
		s.r.emit(Rec{"ev": "apiError", "verb": "update", "message": err.Error()})
	}
}

func (s *server) remember(p *v1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
	s.gone[podKey(p)] = Rec{"phase": string(p.Status.Phase), "node": p.Spec.NodeName, "deleted": true}
}

var podGVR = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func (s *server) deletePod(ns, name string) error {
	defer s.kickClaims()
	obj, err := s.tracker.Get(podGVR, ns, name)
	if err != nil {
		return err
	}
	p := obj.(*v1.Pod).DeepCopy()
	if s.c.TerminationSeconds > 0 && p.Spec.NodeName != "" {
		if p.DeletionTimestamp != nil {
			return nil
		}
		secs := int64(s.c.TerminationSeconds)
		now := metav1.NewTime(time.Now().Add(seconds(s.c.TerminationSeconds)))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &now, &secs
		s.mu.Lock()
		s.prepare(p, false)
		s.mu.Unlock()
		if err := s.tracker.Update(podGVR, p, ns); err != nil {
			return err
		}
		uid := p.UID
		end := func() {
			if o, err := s.tracker.Get(podGVR, ns, name); err == nil && o.(*v1.Pod).UID == uid {
				s.remember(o.(*v1.Pod))
				s.r.emit(Rec{"ev": "gone", "pod": ns + "/" + name})
				_ = s.tracker.Delete(podGVR, ns, name)
				s.kickClaims()
			}
		}
		if s.c.Seed == nil {
			go func() {
				time.Sleep(seconds(s.c.TerminationSeconds))
				end()
			}()
			return nil
		}
		// Timers of one instant fire in any order, so one goroutine ends all pods of an instant, in the order of their deletion.
		when := time.Now().Add(seconds(s.c.TerminationSeconds)).Truncate(time.Microsecond)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ending[when] = append(s.ending[when], end)
		if len(s.ending[when]) > 1 {
			return nil
		}
		go func() {
			time.Sleep(time.Until(when))
			s.mu.Lock()
			ends := s.ending[when]
			delete(s.ending, when)
			s.mu.Unlock()
			for _, end := range ends {
				end()
			}
		}()
		return nil
	}
	s.remember(p)
	return s.tracker.Delete(podGVR, ns, name)
}

func (s *server) delete(ref *Ref) {
	var err error
	if ref.Kind == "Pod" {
		err = s.deletePod(ref.Namespace, ref.Name)
	} else if ref.Kind == "ResourceClaim" {
		err = s.deleteClaim(ref.Namespace, ref.Name)
	} else {
		for gvk := range scheme.Scheme.AllKnownTypes() {
			if gvk.Kind == ref.Kind && (ref.APIVersion == "" || ref.APIVersion == gvk.GroupVersion().String()) {
				if e := s.tracker.Delete(gvrOf(gvk), ref.Namespace, ref.Name); e == nil {
					return
				} else {
					err = e
				}
			}
		}
	}
	if err != nil {
		s.r.emit(Rec{"ev": "apiError", "verb": "delete", "message": err.Error()})
	}
}

// isEnding says whether deleted pods are still there.
func (s *server) isEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ending) > 0
}

// clientset returns a fake clientset whose writes go through the server.
func (s *server) clientset() *fake.Clientset {
	cs := fake.NewSimpleClientset()
	s.tracker = cs.Tracker()
	cs.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetSubresource() != "binding" {
			return false, nil, nil
		}
		b := a.(clienttesting.CreateAction).GetObject().(*v1.Binding)
		obj, err := s.tracker.Get(podGVR, a.GetNamespace(), b.Name)
		if err != nil {
			return true, nil, err
		}
		p := obj.(*v1.Pod).DeepCopy()
		if p.Spec.NodeName != "" {
			return true, nil, apierrors.NewConflict(podGVR.GroupResource(), b.Name, fmt.Errorf("pod %s is already assigned to node %q", b.Name, p.Spec.NodeName))
		}
		if p.DeletionTimestamp != nil {
			return true, nil, apierrors.NewConflict(podGVR.GroupResource(), b.Name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", b.Name))
		}
		p.Spec.NodeName = b.Target.Name
		setCondition(p, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue})
		if clearNominationOnBind() {
			p.Status.NominatedNodeName = ""
		}
		s.mu.Lock()
		s.prepare(p, false)
		s.mu.Unlock()
		s.r.emit(Rec{"ev": "bind", "pod": podKey(p), "node": b.Target.Name})
		return true, b, s.tracker.Update(podGVR, p, p.Namespace)
	})
	cs.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		pa := a.(clienttesting.PatchAction)
		obj, err := s.tracker.Get(podGVR, a.GetNamespace(), pa.GetName())
		if err != nil {
			return true, nil, err
		}
		old, _ := json.Marshal(obj)
		merged, err := strategicpatch.StrategicMergePatch(old, pa.GetPatch(), &v1.Pod{})
		if err != nil {
			return true, nil, err
		}
		p := &v1.Pod{}
		if err := json.Unmarshal(merged, p); err != nil {
			return true, nil, err
		}
		s.mu.Lock()
		s.prepare(p, false)
		s.mu.Unlock()
		rec := Rec{"ev": "status", "pod": podKey(p)}
		for _, c := range p.Status.Conditions {
			if c.Type == v1.PodScheduled {
				rec["status"], rec["reason"], rec["message"] = string(c.Status), c.Reason, c.Message
			}
			if c.Type == v1.DisruptionTarget {
				rec["disruption"] = Rec{"reason": c.Reason, "message": c.Message, "status": string(c.Status)}
			}
		}
		rec["nominated"] = p.Status.NominatedNodeName
		if x := p.Status.ExtendedResourceClaimStatus; x != nil {
			maps := []string{}
			for _, m := range x.RequestMappings {
				maps = append(maps, m.ContainerName+" "+m.ResourceName+" "+m.RequestName)
			}
			rec["extendedClaim"] = Rec{"name": x.ResourceClaimName, "mappings": maps}
		}
		s.r.emit(rec)
		return true, p, s.tracker.Update(podGVR, p, p.Namespace)
	})
	cs.PrependReactor("delete", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		da := a.(clienttesting.DeleteAction)
		s.r.emit(Rec{"ev": "delete", "pod": a.GetNamespace() + "/" + da.GetName()})
		return true, nil, s.deletePod(a.GetNamespace(), da.GetName())
	})
	s.claimReactors(cs)
	s.podGroupReactors(cs)
	for _, res := range []string{"persistentvolumeclaims", "persistentvolumes"} {
		cs.PrependReactor("update", res, func(a clienttesting.Action) (bool, runtime.Object, error) {
			obj := a.(clienttesting.UpdateAction).GetObject().DeepCopyObject()
			s.mu.Lock()
			m := s.prepare(obj, false)
			s.mu.Unlock()
			rec := Rec{"ev": "update", "resource": a.GetResource().Resource, "name": strings.TrimPrefix(m.GetNamespace()+"/"+m.GetName(), "/")}
			switch o := obj.(type) {
			case *v1.PersistentVolumeClaim:
				rec["volumeName"] = o.Spec.VolumeName
				rec["selectedNode"] = o.Annotations["volume.kubernetes.io/selected-node"]
			case *v1.PersistentVolume:
				if o.Spec.ClaimRef != nil {
					rec["claim"] = o.Spec.ClaimRef.Namespace + "/" + o.Spec.ClaimRef.Name
				}
			}
			s.r.emit(rec)
			if err := s.tracker.Update(a.GetResource(), obj, m.GetNamespace()); err != nil {
				return true, nil, err
			}
			if s.c.Provision {
				go s.reconcileVolumes()
			}
			return true, obj, nil
		})
	}
	return cs
}

func setCondition(p *v1.Pod, c v1.PodCondition) {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == c.Type {
			p.Status.Conditions[i] = c
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, c)
}

func (s *server) final() {
	pods := Rec{}
	l, err := s.tracker.List(podGVR, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "")
	if err == nil {
		for _, p := range l.(*v1.PodList).Items {
			rec := Rec{"node": p.Spec.NodeName, "phase": string(p.Status.Phase)}
			if p.Status.NominatedNodeName != "" {
				rec["nominated"] = p.Status.NominatedNodeName
			}
			for _, c := range p.Status.Conditions {
				if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse {
					rec["reason"], rec["message"] = c.Reason, c.Message
				}
			}
			pods[podKey(&p)] = rec
		}
	}
	s.mu.Lock()
	for k, v := range s.gone {
		if _, ok := pods[k]; !ok {
			pods[k] = v
		}
	}
	s.mu.Unlock()
	rec := Rec{"ev": "final", "pods": pods}
	if claims := s.finalClaims(); len(claims) > 0 {
		rec["claims"] = claims
	}
	s.r.emit(rec)
	s.r.mu.Lock()
	s.r.done = true
	s.r.mu.Unlock()
}
