package recorder

import (
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	pvcGVR = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	pvGVR  = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}
	scGVR  = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
	ndGVR  = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
)

// reconcileVolumes stands in for the volume controller and a provisioner: a volume that names a claim gets bound,
// and a claim with a selected node and a provisioner gets a new volume in that node's zone (or on that node).
func (s *server) reconcileVolumes() {
	time.Sleep(time.Millisecond)
	pvl, err := s.tracker.List(pvGVR, schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}, "")
	if err != nil {
		return
	}
	for i := range pvl.(*v1.PersistentVolumeList).Items {
		pv := &pvl.(*v1.PersistentVolumeList).Items[i]
		if pv.Spec.ClaimRef == nil {
			continue
		}
		o, err := s.tracker.Get(pvcGVR, pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name)
		if err != nil {
			continue
		}
		pvc := o.(*v1.PersistentVolumeClaim).DeepCopy()
		if pvc.Spec.VolumeName != "" {
			continue
		}
		s.bindClaim(pvc, pv)
	}
	pvcs, err := s.tracker.List(pvcGVR, schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}, "")
	if err != nil {
		return
	}
	items := pvcs.(*v1.PersistentVolumeClaimList).Items
	sort.Slice(items, func(i, j int) bool { return items[i].Name < items[j].Name })
	for i := range items {
		pvc := items[i].DeepCopy()
		node := pvc.Annotations["volume.kubernetes.io/selected-node"]
		if pvc.Spec.VolumeName != "" || node == "" || pvc.Spec.StorageClassName == nil {
			continue
		}
		o, err := s.tracker.Get(scGVR, "", *pvc.Spec.StorageClassName)
		if err != nil || o.(*storagev1.StorageClass).Provisioner == "kubernetes.io/no-provisioner" {
			continue
		}
		no, err := s.tracker.Get(ndGVR, "", node)
		if err != nil {
			continue
		}
		key, val := "topology.kubernetes.io/zone", no.(*v1.Node).Labels["topology.kubernetes.io/zone"]
		if val == "" {
			key, val = "kubernetes.io/hostname", node
		}
		pv := &v1.PersistentVolume{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
			ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(pvc.UID)},
			Spec: v1.PersistentVolumeSpec{
				Capacity: pvc.Spec.Resources.Requests, AccessModes: pvc.Spec.AccessModes, StorageClassName: *pvc.Spec.StorageClassName,
				PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{
					Driver: o.(*storagev1.StorageClass).Provisioner, VolumeHandle: "vol-" + string(pvc.UID)}},
				ClaimRef: &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: pvc.Namespace, Name: pvc.Name, UID: pvc.UID},
				NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
					MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{val}}}}}}},
			},
		}
		s.createObj(pv, schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"})
		s.bindClaim(pvc, pv)
	}
}

func (s *server) bindClaim(pvc *v1.PersistentVolumeClaim, pv *v1.PersistentVolume) {
	pv = pv.DeepCopy()
	if pv.Spec.ClaimRef.UID == "" {
		pv.Spec.ClaimRef.UID = pvc.UID
	}
	pv.Status.Phase = v1.VolumeBound
	pvc.Spec.VolumeName = pv.Name
	if pvc.Annotations == nil {
		pvc.Annotations = map[string]string{}
	}
	pvc.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
	pvc.Status.Phase = v1.ClaimBound
	s.mu.Lock()
	s.prepare(pv, false)
	s.prepare(pvc, false)
	s.mu.Unlock()
	_ = s.tracker.Update(pvGVR, pv, "")
	_ = s.tracker.Update(pvcGVR, pvc, pvc.Namespace)
	s.r.emit(Rec{"ev": "claimBound", "name": pvc.Namespace + "/" + pvc.Name, "volume": pv.Name})
}
