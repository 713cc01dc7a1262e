package recorder

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// outOfTree are the plugins that the recorder has beside the in-tree ones: those that recorded cases use, and the user's. They do
// nothing unless a configuration enables them.
func outOfTree(r *recorder) frameworkruntime.Registry {
	reg := frameworkruntime.Registry{
		"NodeNumber": newNodeNumber,
		"UnderlayIP": func(ctx context.Context, o runtime.Object, h handle) (plugin, error) { return newUnderlayIP(r, o, h) },
		"LowFirst":   func(context.Context, runtime.Object, handle) (plugin, error) { return lowFirst{}, nil },
	}
	for _, name := range []string{"ScriptedA", "ScriptedB", "ScriptedC"} {
		reg[name] = func(_ context.Context, o runtime.Object, h handle) (plugin, error) {
			s, err := newScripted(name, r, o, h)
			if err != nil {
				return nil, err
			}
			return &scriptedFull{s}, nil
		}
	}
	// Plain neither registers events nor signs pods.
	reg["Plain"] = func(_ context.Context, o runtime.Object, h handle) (plugin, error) {
		s, err := newScripted("Plain", r, o, h)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	for _, p := range userPlugins {
		reg[p.Name] = p.factory
	}
	return reg
}
