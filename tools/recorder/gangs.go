//go:build !k134

package recorder

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// orderAllow lets the pods of a gang that wait at Permit go in the order of their creation: the real one takes them from a map.
func orderAllow(f framework.Framework) *laterHandle {
	for _, pl := range field[[]fwk.PermitPlugin](f, "permitPlugins") {
		if pl.Name() != "GangScheduling" {
			continue
		}
		h := reflect.ValueOf(pl).Elem().FieldByName("handle")
		handle := (*fwk.Handle)(unsafe.Pointer(h.UnsafeAddr()))
		later := &laterHandle{Handle: *handle}
		*handle = later
		return later
	}
	return nil
}

type laterHandle struct {
	fwk.Handle
	pending []laterWaiting
}

type laterWaiting struct {
	fwk.WaitingPod
	h      *laterHandle
	plugin string
}

func (h *laterHandle) GetWaitingPod(uid types.UID) fwk.WaitingPod {
	w := h.Handle.GetWaitingPod(uid)
	if w == nil {
		return nil
	}
	return laterWaiting{w, h, ""}
}

func (w laterWaiting) Allow(plugin string) {
	w.plugin = plugin
	w.h.pending = append(w.h.pending, w)
}
