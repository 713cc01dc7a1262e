package recorder

import (
	"bytes"
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// lateClient lets everything else that can run at an instant run before a victim of preemption is touched: a preemption's
// goroutine does its work only when its scheduling cycle has put the preemptor back into the queue. It waits before the fake
// clientset does, which holds a lock that would keep time from moving.
type lateClient struct{ clientset.Interface }

// CoreV1 and Pods lead to the calls that wait.
func (c lateClient) CoreV1() corev1client.CoreV1Interface { return lateCore{c.Interface.CoreV1()} }

type lateCore struct{ corev1client.CoreV1Interface }

func (c lateCore) Pods(namespace string) corev1client.PodInterface {
	return latePods{c.CoreV1Interface.Pods(namespace)}
}

type latePods struct{ corev1client.PodInterface }

// Patch waits where it tells a victim of its end.
func (p latePods) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1.Pod, error) {
	if bytes.Contains(data, []byte(v1.DisruptionTarget)) {
		time.Sleep(time.Nanosecond)
	}
	return p.PodInterface.Patch(ctx, name, kind, data, opts, subresources...)
}

func (p latePods) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	time.Sleep(time.Nanosecond)
	return p.PodInterface.Delete(ctx, name, opts)
}
