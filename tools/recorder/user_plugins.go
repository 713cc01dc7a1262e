package recorder

import (
	"fmt"
	"sort"

	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// userPlugin is a plugin that build.sh was given with --with.
type userPlugin struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	Version string `json:"version"` // of the module; "local" for a folder
	factory frameworkruntime.PluginFactory
}

// userPlugins are sorted by name. The file that build.sh makes fills them in.
var userPlugins []userPlugin

func register(pkg, version, name string, factory frameworkruntime.PluginFactory) {
	for _, p := range userPlugins {
		if p.Name == name {
			panic(fmt.Sprintf("the plugin %s is in %s and in %s, expected one of that name", name, p.Package, pkg))
		}
	}
	userPlugins = append(userPlugins, userPlugin{Name: name, Package: pkg, Version: version, factory: factory})
	sort.Slice(userPlugins, func(i, j int) bool { return userPlugins[i].Name < userPlugins[j].Name })
}
