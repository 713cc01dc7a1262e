package recorder

import (
	"encoding/json"
	"fmt"
	"reflect"
	goruntime "runtime"
	"slices"
	"sort"
	"strings"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Dynamic resource allocation: what the API server of a case does with claims, and two stand-ins.
//
// `claims: true` is a stand-in for the resource claim controller and the garbage collector, 1 ms behind any change
// of a pod, claim or template. It creates claims from templates (name: POD-CLAIM-NNNNN, a counter of the case), puts
// them into pod.status.resourceClaimStatuses, reserves allocated claims for pods that were bound without the scheduler,
// takes pods that are gone out of reservedFor, deallocates a claim that lost its last consumer, and removes claims
// whose owner is gone.
//
// `devices` is a stand-in for DRA drivers whose devices have binding conditions: `after` seconds after a claim got
// such devices it sets the conditions, or the failure condition for the devices whose name is in `fail`; devices in
// `ignore` never get a status.

// DeviceDriver says what the stand-in driver does.
type DeviceDriver struct {
	After  float64  `json:"after"`
	Fail   []string `json:"fail,omitempty"`
	Ignore []string `json:"ignore,omitempty"`
}

// podClaimAnnotation is what the claim controller writes on a claim made from a template: the pod's name for it.
const podClaimAnnotation = "resource.kubernetes.io/pod-claim-name"

var (
	claimGVR    = schema.GroupVersionResource{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"}
	claimGVK    = schema.GroupVersionKind{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaim"}
	templateGVR = schema.GroupVersionResource{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaimtemplates"}
)

func (s *server) generateName(base string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names++
	return fmt.Sprintf("%s%05d", base, s.names)
}

// keepClaim: an update step of a claim keeps finalizers, deletionTimestamp and status where the new object has none.
func keepClaim(obj, old runtime.Object) {
	c, ok := obj.(*resourceapi.ResourceClaim)
	if !ok {
		return
	}
	o := old.(*resourceapi.ResourceClaim)
	if len(c.Finalizers) == 0 {
		c.Finalizers = o.Finalizers
	}
	if c.DeletionTimestamp == nil {
		c.DeletionTimestamp = o.DeletionTimestamp
	}
	if c.Status.Allocation == nil && len(c.Status.ReservedFor) == 0 && len(c.Status.Devices) == 0 {
		c.Status = o.Status
	}
}

func (s *server) getClaim(ns, name string) (*resourceapi.ResourceClaim, error) {
	o, err := s.tracker.Get(claimGVR, ns, name)
	if err != nil {
		return nil, err
	}
	return o.(*resourceapi.ResourceClaim).DeepCopy(), nil
}

// putClaim stores a claim; one that is being deleted and has no finalizer left goes.
func (s *server) putClaim(c *resourceapi.ResourceClaim) error {
	s.mu.Lock()
	s.prepare(c, false)
	s.mu.Unlock()
	if c.DeletionTimestamp != nil && len(c.Finalizers) == 0 {
		return s.tracker.Delete(claimGVR, c.Namespace, c.Name)
	}
	return s.tracker.Update(claimGVR, c, c.Namespace)
}

func (s *server) deleteClaim(ns, name string) error {
	c, err := s.getClaim(ns, name)
	if err != nil {
		return err
	}
	defer s.kickClaims()
	if len(c.Finalizers) == 0 {
		return s.tracker.Delete(claimGVR, ns, name)
	}
	if c.DeletionTimestamp == nil {
		now := metav1.Now()
		c.DeletionTimestamp = &now
		return s.putClaim(c)
	}
	return nil
}

// claimView is what a trace says of a claim.
func claimView(c *resourceapi.ResourceClaim, rec Rec) Rec {
	if len(c.Finalizers) > 0 {
		rec["finalizers"] = c.Finalizers
	}
	if c.DeletionTimestamp != nil {
		rec["deleting"] = true
	}
	if len(c.Status.ReservedFor) > 0 {
		names := []string{}
		for _, r := range c.Status.ReservedFor {
			names = append(names, r.Resource+"/"+r.Name)
		}
		rec["reservedFor"] = names
	}
	a := c.Status.Allocation
	if a == nil {
		return rec
	}
	devices := []Rec{}
	for _, d := range a.Devices.Results {
		dr := Rec{"request": d.Request, "device": d.Driver + "/" + d.Pool + "/" + d.Device}
		if d.AdminAccess != nil && *d.AdminAccess {
			dr["adminAccess"] = true
		}
		if d.ShareID != nil {
			dr["shared"] = true
		}
		if len(d.ConsumedCapacity) > 0 {
			cc := map[string]string{}
			for k, q := range d.ConsumedCapacity {
				cc[string(k)] = q.String()
			}
			dr["consumed"] = cc
		}
		if len(d.Tolerations) > 0 {
			dr["tolerations"] = len(d.Tolerations)
		}
		if len(d.BindingConditions) > 0 {
			dr["bindingConditions"] = d.BindingConditions
		}
		if len(d.BindingFailureConditions) > 0 {
			dr["bindingFailureConditions"] = d.BindingFailureConditions
		}
		devices = append(devices, dr)
	}
	rec["devices"] = devices
	if a.NodeSelector != nil {
		b, _ := json.Marshal(a.NodeSelector)
		var v any
		_ = json.Unmarshal(b, &v)
		rec["nodeSelector"] = v
	}
	if len(a.Devices.Config) > 0 {
		configs := []Rec{}
		for _, x := range a.Devices.Config {
			cr := Rec{"source": string(x.Source), "requests": x.Requests}
			if x.Opaque != nil {
				cr["driver"] = x.Opaque.Driver
			}
			configs = append(configs, cr)
		}
		rec["config"] = configs
	}
	return rec
}

// claimReactors are the API server's writable side for claims, with conflicts, subresources and generated names.
func (s *server) claimReactors(cs *fake.Clientset) {
	cs.PrependReactor("create", "resourceclaims", func(a clienttesting.Action) (bool, runtime.Object, error) {
		c := a.(clienttesting.CreateAction).GetObject().DeepCopyObject().(*resourceapi.ResourceClaim)
		if c.Name == "" {
			c.Name = s.generateName(c.GenerateName)
		}
		s.mu.Lock()
		s.prepare(c, true)
		s.mu.Unlock()
		rec := Rec{"ev": "update", "verb": "create", "resource": "resourceclaims", "name": c.Namespace + "/" + c.Name, "requests": requestsView(c)}
		s.r.emit(rec)
		if err := s.tracker.Create(claimGVR, c, c.Namespace); err != nil {
			return true, nil, err
		}
		s.kickClaims()
		settle()
		return true, c.DeepCopy(), nil
	})
	cs.PrependReactor("update", "resourceclaims", func(a clienttesting.Action) (bool, runtime.Object, error) {
		c := a.(clienttesting.UpdateAction).GetObject().DeepCopyObject().(*resourceapi.ResourceClaim)
		cur, err := s.getClaim(c.Namespace, c.Name)
		if err != nil {
			return true, nil, err
		}
		if c.UID != "" && c.UID != cur.UID || c.ResourceVersion != "" && c.ResourceVersion != cur.ResourceVersion {
			return true, nil, apierrors.NewConflict(claimGVR.GroupResource(), c.Name, fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
		}
		rec := Rec{"ev": "update", "resource": "resourceclaims", "name": c.Namespace + "/" + c.Name}
		if a.GetSubresource() == "status" {
			status := c.Status
			c = cur
			c.Status = status
			rec["verb"] = "status"
		} else {
			c.Status = cur.Status
			c.DeletionTimestamp = cur.DeletionTimestamp
			rec["verb"] = "update"
		}
		if err := s.putClaim(c); err != nil {
			return true, nil, err
		}
		s.r.emit(claimView(c, rec))
		s.kickClaims()
		s.kickDevices(c)
		settle()
		return true, c.DeepCopy(), nil
	})
	cs.PrependReactor("patch", "resourceclaims", func(a clienttesting.Action) (bool, runtime.Object, error) {
		pa := a.(clienttesting.PatchAction)
		cur, err := s.getClaim(a.GetNamespace(), pa.GetName())
		if err != nil {
			return true, nil, err
		}
		old, _ := json.Marshal(cur)
		merged, err := strategicpatch.StrategicMergePatch(old, pa.GetPatch(), &resourceapi.ResourceClaim{})
		if err != nil {
			return true, nil, err
		}
		c := &resourceapi.ResourceClaim{}
		if err := json.Unmarshal(merged, c); err != nil {
			return true, nil, err
		}
		if c.UID != cur.UID {
			return true, nil, apierrors.NewConflict(claimGVR.GroupResource(), c.Name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", c.UID, cur.UID))
		}
		if err := s.putClaim(c); err != nil {
			return true, nil, err
		}
		s.r.emit(claimView(c, Rec{"ev": "update", "verb": "patch", "resource": "resourceclaims", "name": c.Namespace + "/" + c.Name}))
		s.kickClaims()
		settle()
		return true, c.DeepCopy(), nil
	})
	cs.PrependReactor("delete", "resourceclaims", func(a clienttesting.Action) (bool, runtime.Object, error) {
		da := a.(clienttesting.DeleteAction)
		s.r.emit(Rec{"ev": "update", "verb": "delete", "resource": "resourceclaims", "name": a.GetNamespace() + "/" + da.GetName()})
		err := s.deleteClaim(a.GetNamespace(), da.GetName())
		settle()
		return true, nil, err
	})
}

// settle lets the informers see what was written before the API call returns, as they nearly always do in a cluster: a call takes
// time there. (For a claim that was just created, the scheduler otherwise looks at once, in vain, and again after a second.)
func settle() {
	for i := 0; i < 1000; i++ {
		goruntime.Gosched()
	}
}

func requestsView(c *resourceapi.ResourceClaim) []string {
	out := []string{}
	for _, r := range c.Spec.Devices.Requests {
		if r.Exactly != nil {
			out = append(out, fmt.Sprintf("%s %s %d", r.Name, r.Exactly.DeviceClassName, r.Exactly.Count))
		}
	}
	return out
}

// kickClaims lets the stand-in claim controller look, 1 ms from now.
func (s *server) kickClaims() {
	if !s.c.Claims {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claimsDue {
		return
	}
	s.claimsDue = true
	go func() {
		time.Sleep(time.Millisecond)
		s.mu.Lock()
		s.claimsDue = false
		s.mu.Unlock()
		for i := 0; i < 10 && s.reconcileClaims(); i++ {
		}
	}()
}

func (s *server) listPods() []v1.Pod {
	l, err := s.tracker.List(podGVR, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "")
	if err != nil {
		return nil
	}
	items := l.(*v1.PodList).Items
	sort.Slice(items, func(i, j int) bool { return items[i].UID < items[j].UID })
	return items
}

func (s *server) listClaims() []resourceapi.ResourceClaim {
	l, err := s.tracker.List(claimGVR, claimGVK, "")
	if err != nil {
		return nil
	}
	items := l.(*resourceapi.ResourceClaimList).Items
	sort.Slice(items, func(i, j int) bool {
		return items[i].Namespace+"/"+items[i].Name < items[j].Namespace+"/"+items[j].Name
	})
	return items
}

func ownerPod(c *resourceapi.ResourceClaim) *metav1.OwnerReference {
	for i := range c.OwnerReferences {
		o := &c.OwnerReferences[i]
		if o.Controller != nil && *o.Controller && o.APIVersion == "v1" && o.Kind == "Pod" {
			return o
		}
	}
	return nil
}

// reconcileClaims is one round of the stand-in claim controller; true: something changed.
func (s *server) reconcileClaims() bool {
	changed := false
	pods := s.listPods()
	byUID := map[types.UID]*v1.Pod{}
	for i := range pods {
		byUID[pods[i].UID] = &pods[i]
	}
	for i := range pods {
		if pods[i].DeletionTimestamp == nil && len(pods[i].Spec.ResourceClaims) > 0 {
			changed = s.reconcilePodClaims(pods[i].DeepCopy()) || changed
		}
	}
	for _, item := range s.listClaims() {
		c := item.DeepCopy()
		remaining := []resourceapi.ResourceClaimConsumerReference{}
		for _, r := range c.Status.ReservedFor {
			if r.APIGroup == "" && r.Resource == "pods" {
				p := byUID[r.UID]
				if p == nil || p.DeletionTimestamp != nil && p.Spec.NodeName == "" {
					continue
				}
			}
			remaining = append(remaining, r)
		}
		finalizer := slices.Index(c.Finalizers, resourceapi.Finalizer)
		dirty := false
		if len(remaining) < len(c.Status.ReservedFor) {
			dirty = true
			c.Status.ReservedFor = remaining
			if len(remaining) == 0 {
				c.Status.ReservedFor = nil
				if finalizer >= 0 {
					c.Status.Allocation, c.Status.Devices = nil, nil
				}
			}
		} else if finalizer >= 0 && c.DeletionTimestamp != nil && len(remaining) == 0 {
			dirty = true
			c.Status.Allocation, c.Status.Devices = nil, nil
		}
		if dirty {
			if finalizer >= 0 && c.Status.Allocation == nil {
				c.Finalizers = slices.Delete(c.Finalizers, finalizer, finalizer+1)
				if len(c.Finalizers) == 0 {
					c.Finalizers = nil
				}
			}
			if s.putClaim(c) == nil {
				s.r.emit(claimView(c, Rec{"ev": "claim", "verb": "release", "name": c.Namespace + "/" + c.Name}))
				changed = true
				settle()
			}
		}
		if o := ownerPod(c); o != nil && len(remaining) == 0 && c.DeletionTimestamp == nil {
			if p := byUID[o.UID]; p == nil || p.DeletionTimestamp != nil && p.Spec.NodeName == "" {
				if s.deleteClaim(c.Namespace, c.Name) == nil {
					s.r.emit(Rec{"ev": "claim", "verb": "delete", "name": c.Namespace + "/" + c.Name})
					changed = true
					settle()
				}
			}
		}
	}
	return changed
}

func (s *server) reconcilePodClaims(p *v1.Pod) bool {
	changed := false
	names := map[string]string{}
	for _, st := range p.Status.ResourceClaimStatuses {
		if st.ResourceClaimName != nil {
			names[st.Name] = *st.ResourceClaimName
		}
	}
	fresh := false
	for _, pc := range p.Spec.ResourceClaims {
		if pc.ResourceClaimTemplateName == nil {
			continue
		}
		if name, ok := names[pc.Name]; ok {
			if c, err := s.getClaim(p.Namespace, name); err == nil && metav1.IsControlledBy(c, p) {
				continue
			}
		}
		found := ""
		for _, c := range s.listClaims() {
			if c.Namespace == p.Namespace && metav1.IsControlledBy(&c, p) && c.Annotations[podClaimAnnotation] == pc.Name {
				found = c.Name
			}
		}
		if found == "" {
			o, err := s.tracker.Get(templateGVR, p.Namespace, *pc.ResourceClaimTemplateName)
			if err != nil {
				return changed
			}
			t := o.(*resourceapi.ResourceClaimTemplate)
			yes := true
			c := &resourceapi.ResourceClaim{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: p.Namespace, Name: s.generateName(p.Name + "-" + pc.Name + "-"), Labels: t.Spec.Labels,
					Annotations:     map[string]string{podClaimAnnotation: pc.Name},
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}},
				},
				Spec: *t.Spec.Spec.DeepCopy(),
			}
			s.r.emit(Rec{"ev": "claim", "verb": "create", "name": c.Namespace + "/" + c.Name, "pod": podKey(p)})
			s.createObj(c, claimGVK)
			settle()
			found, changed = c.Name, true
		}
		names[pc.Name] = found
		fresh = true
	}
	if fresh {
		keys := []string{}
		for k := range names {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		p.Status.ResourceClaimStatuses = nil
		for _, k := range keys {
			name := names[k]
			p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, v1.PodResourceClaimStatus{Name: k, ResourceClaimName: &name})
		}
		s.mu.Lock()
		s.prepare(p, false)
		s.mu.Unlock()
		_ = s.tracker.Update(podGVR, p, p.Namespace)
		settle()
		changed = true
	}
	if p.Spec.NodeName == "" {
		return changed
	}
	for _, pc := range p.Spec.ResourceClaims {
		name := ""
		if pc.ResourceClaimName != nil {
			name = *pc.ResourceClaimName
		} else {
			name = names[pc.Name]
		}
		c, err := s.getClaim(p.Namespace, name)
		if err != nil || c.Status.Allocation == nil || c.DeletionTimestamp != nil {
			continue
		}
		if slices.ContainsFunc(c.Status.ReservedFor, func(r resourceapi.ResourceClaimConsumerReference) bool {
			return r.UID == p.UID || r.Resource == "podgroups"
		}) {
			continue
		}
		c.Status.ReservedFor = append(c.Status.ReservedFor, resourceapi.ResourceClaimConsumerReference{Resource: "pods", Name: p.Name, UID: p.UID})
		if s.putClaim(c) == nil {
			s.r.emit(claimView(c, Rec{"ev": "claim", "verb": "reserve", "name": c.Namespace + "/" + c.Name, "pod": podKey(p)}))
			changed = true
			settle()
		}
	}
	return changed
}

// kickDevices lets the stand-in driver set the binding conditions of a claim that was just allocated.
func (s *server) kickDevices(c *resourceapi.ResourceClaim) {
	d := s.c.Devices
	if d == nil || c.Status.Allocation == nil || len(c.Status.Devices) > 0 {
		return
	}
	wanted := false
	for _, r := range c.Status.Allocation.Devices.Results {
		wanted = wanted || len(r.BindingConditions) > 0
	}
	if !wanted {
		return
	}
	ns, name, uid := c.Namespace, c.Name, c.UID
	go func() {
		time.Sleep(time.Duration(d.After * float64(time.Second)))
		c, err := s.getClaim(ns, name)
		if err != nil || c.UID != uid || c.Status.Allocation == nil || len(c.Status.Devices) > 0 {
			return
		}
		set := []string{}
		for _, r := range c.Status.Allocation.Devices.Results {
			if len(r.BindingConditions) == 0 || slices.Contains(d.Ignore, r.Device) {
				continue
			}
			st := resourceapi.AllocatedDeviceStatus{Driver: r.Driver, Pool: r.Pool, Device: r.Device}
			if slices.Contains(d.Fail, r.Device) && len(r.BindingFailureConditions) > 0 {
				apimeta.SetStatusCondition(&st.Conditions, metav1.Condition{Type: r.BindingFailureConditions[0], Status: metav1.ConditionTrue, Reason: "Broken", Message: "no link"})
			} else {
				for _, b := range r.BindingConditions {
					apimeta.SetStatusCondition(&st.Conditions, metav1.Condition{Type: b, Status: metav1.ConditionTrue, Reason: "Ready"})
				}
			}
			for _, x := range st.Conditions {
				set = append(set, r.Device+" "+x.Type)
			}
			c.Status.Devices = append(c.Status.Devices, st)
		}
		if len(set) > 0 && s.putClaim(c) == nil {
			s.r.emit(Rec{"ev": "claim", "verb": "devices", "name": ns + "/" + name, "set": set})
		}
	}()
}

func (s *server) finalClaims() Rec {
	out := Rec{}
	for _, c := range s.listClaims() {
		out[c.Namespace+"/"+c.Name] = claimView(&c, Rec{})
	}
	return out
}

// firstUnavailable leaves PostFilter one claim to free, the pod's first that it could: the real one takes any, from a map.
// state is the DynamicResources plugin's own.
func firstUnavailable(state any, pod *v1.Pod) {
	v := reflect.ValueOf(state)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return
	}
	f := v.Elem().FieldByName("unavailableClaims")
	cf := v.Elem().FieldByName("claims")
	if !f.IsValid() || !cf.IsValid() || f.Len() < 2 {
		return
	}
	unavailable := *(*map[int]sets.Empty)(unsafe.Pointer(f.UnsafeAddr()))
	claims := *(*[]*resourceapi.ResourceClaim)(unsafe.Pointer(cf.FieldByName("claims").UnsafeAddr()))
	for i, c := range claims {
		if _, ok := unavailable[i]; !ok {
			continue
		}
		if r := c.Status.ReservedFor; len(r) == 0 || len(r) == 1 && r[0].UID == pod.UID {
			for k := range unavailable {
				if k != i {
					delete(unavailable, k)
				}
			}
			return
		}
	}
}

// podGroupReactors write down what the scheduler says of a pod group.
func (s *server) podGroupReactors(cs *fake.Clientset) {
	cs.PrependReactor("patch", "podgroups", func(a clienttesting.Action) (bool, runtime.Object, error) {
		pa := a.(clienttesting.PatchAction)
		obj, err := s.tracker.Get(a.GetResource(), a.GetNamespace(), pa.GetName())
		if err != nil {
			return true, nil, err
		}
		old, _ := json.Marshal(obj)
		merged, err := strategicpatch.StrategicMergePatch(old, pa.GetPatch(), obj.DeepCopyObject())
		if err != nil {
			return true, nil, err
		}
		out := reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
		if err := json.Unmarshal(merged, out); err != nil {
			return true, nil, err
		}
		s.mu.Lock()
		s.prepare(out, false)
		s.mu.Unlock()
		var view struct {
			Status struct {
				Conditions []metav1.Condition `json:"conditions"`
			} `json:"status"`
		}
		_ = json.Unmarshal(merged, &view)
		conditions := []string{}
		for _, c := range view.Status.Conditions {
			conditions = append(conditions, strings.Join([]string{c.Type, string(c.Status), c.Reason, c.Message}, "|"))
		}
		s.r.emit(Rec{"ev": "update", "verb": "status", "resource": "podgroups", "name": a.GetNamespace() + "/" + pa.GetName(), "conditions": conditions})
		return true, out, s.tracker.Update(a.GetResource(), out, a.GetNamespace())
	})
}
