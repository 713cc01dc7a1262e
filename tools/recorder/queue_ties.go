//go:build k135 || k136

package recorder

import (
	"reflect"
	"unsafe"

	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// orderTies puts pods of equal priority and time in the queue's heaps in the order of their creation. The real one takes any: all pods
// of a gang that fail at one instant are such in virtual time.
func orderTies(s *scheduler.Scheduler) {
	q := reflect.ValueOf(s.SchedulingQueue).Elem()
	at := func(queue, heap string) {
		f := q.FieldByName(queue).Elem().Elem().FieldByName(heap).Elem().FieldByName("data").Elem().FieldByName("lessFunc")
		p := (*func(a, b *framework.QueuedPodInfo) bool)(unsafe.Pointer(f.UnsafeAddr()))
		less := *p
		*p = func(a, b *framework.QueuedPodInfo) bool {
			if less(a, b) {
				return true
			}
			return !less(b, a) && a.Pod.UID < b.Pod.UID
		}
	}
	at("activeQ", "queue")
	at("backoffQ", "podBackoffQ")
	at("backoffQ", "podErrorBackoffQ")
}
