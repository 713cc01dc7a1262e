package recorder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientset "k8s.io/client-go/kubernetes"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// exchange is what one call carried.
type exchange struct {
	request, response Rec
	status            int
	raw               *string
	delay             float64
	dropped           bool
	rule              int
}

type extenders struct {
	mu     sync.Mutex
	s      *server
	cs     clientset.Interface
	ctx    context.Context
	list   []*ExtenderServer
	calls  map[string]int
	seen   map[string]bool
	last   map[string]*exchange
	accept chan net.Conn
	// prioritize calls of the attempt under way, and what they add to each node
	prio  []Rec
	added map[string]map[string]int64
	lists map[string]bool
	asked bool
}

func trimURL(u string) string { return strings.TrimRight(u, "/") }

// startExtenders serves the case's extenders inside the bubble: the scheduler's own HTTP client dials a pipe.
func startExtenders(ctx context.Context, s *server, cs clientset.Interface, list []*ExtenderServer) *extenders {
	for _, k := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"} {
		_ = os.Unsetenv(k)
	}
	e := &extenders{s: s, cs: cs, ctx: ctx, list: list, calls: map[string]int{}, seen: map[string]bool{}, last: map[string]*exchange{}, accept: make(chan net.Conn)}
	// The extenders' transports take their dialer from here (apimachinery's util/net).
	http.DefaultTransport.(*http.Transport).DialContext = func(dctx context.Context, network, addr string) (net.Conn, error) {
		up := false
		for _, x := range e.list {
			if hostOf(x.URL) == addr && !x.isDown(s.r.now()) {
				up = true
			}
		}
		if !up {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: pipeAddr(addr), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		}
		client, srv := net.Pipe()
		select {
		case e.accept <- srv:
			return client, nil
		case <-dctx.Done():
			return nil, dctx.Err()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	srv := &http.Server{Handler: e, ErrorLog: log.New(io.Discard, "", 0)}
	srv.SetKeepAlivesEnabled(false)
	go func() { _ = srv.Serve(e) }()
	go func() { <-ctx.Done(); _ = srv.Close() }()
	return e
}

type pipeAddr string

func (p pipeAddr) Network() string { return "tcp" }
func (p pipeAddr) String() string  { return string(p) }

func hostOf(u string) string {
	u = strings.TrimPrefix(u, "http://")
	if i := strings.IndexByte(u, '/'); i >= 0 {
		u = u[:i]
	}
	if !strings.Contains(u, ":") {
		u += ":80"
	}
	return u
}

func (x *ExtenderServer) isDown(t float64) bool {
	for _, w := range x.Down {
		if t >= w[0] && t < w[1] {
			return true
		}
	}
	return false
}

// Accept, Close and Addr make a listener.
func (e *extenders) Accept() (net.Conn, error) {
	select {
	case c := <-e.accept:
		return c, nil
	case <-e.ctx.Done():
		return nil, net.ErrClosed
	}
}
func (e *extenders) Close() error   { return nil }
func (e *extenders) Addr() net.Addr { return pipeAddr("recorder") }

func (e *extenders) byURL(u string) *ExtenderServer {
	for _, x := range e.list {
		if trimURL(x.URL) == trimURL(u) {
			return x
		}
	}
	return nil
}

// canonical is JSON with sorted keys, no blanks, and no escapes of <, > and &.
func canonical(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return canonicalJSON(b)
}

func canonicalJSON(b []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return b
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(x)
	return bytes.TrimSpace(out.Bytes())
}

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:8])
}

// rawArgs keeps the request's objects as they were sent.
type rawArgs struct {
	Pod               json.RawMessage
	Nodes             *struct{ Items []json.RawMessage }
	NodeNames         *[]string
	NodeNameToVictims map[string]*struct {
		Pods             []json.RawMessage
		NumPDBViolations int64
	}
	NodeNameToMetaVictims               map[string]*extenderv1.MetaVictims
	PodName, PodNamespace, PodUID, Node string
}

// object records an object once in a case, under its digest.
func (e *extenders) object(raw json.RawMessage, objects Rec) string {
	c := canonicalJSON(raw)
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(c))
	d.UseNumber()
	if err := d.Decode(&m); err == nil {
		if meta, ok := m["metadata"].(map[string]any); ok {
			delete(meta, "resourceVersion")
		}
		c = canonical(m)
	}
	return e.known(c, objects)
}

func (e *extenders) known(c []byte, objects Rec) string {
	d := digest(c)
	if !e.seen[d] {
		e.seen[d] = true
		objects[d] = json.RawMessage(c)
	}
	return d
}

func (e *extenders) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	full := "http://" + req.Host + req.URL.Path
	i := strings.LastIndexByte(full, '/')
	x, verb := e.byURL(full[:i]), full[i+1:]
	if x == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	ans := e.answer(x, verb, body)
	late := func() {}
	if ans.bind != nil {
		if ans.late {
			late = func() { ans.bind() }
		} else {
			ans.bind()
		}
	}
	if ans.delay > 0 {
		t := time.NewTimer(seconds(ans.delay))
		select {
		case <-t.C:
		case <-e.ctx.Done():
			return
		}
	}
	late()
	if ans.drop {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.Close()
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(ans.status)
	_, _ = w.Write(ans.body())
}

type answer struct {
	status int
	delay  float64
	drop   bool
	bind   func()
	late   bool
	body   func() []byte
}

var verbs = map[string]string{"filter": "filter", "prioritize": "prioritize", "preempt": "preempt", "bind": "bind"}

func (e *extenders) answer(x *ExtenderServer, verb string, body []byte) *answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	var a rawArgs
	if err := json.Unmarshal(body, &a); err != nil {
		panic(err)
	}
	pod := &v1.Pod{}
	if verb == "bind" {
		pod.Namespace, pod.Name = a.PodNamespace, a.PodName
		if o, err := e.s.tracker.Get(podGVR, a.PodNamespace, a.PodName); err == nil {
			pod = o.(*v1.Pod)
		}
	} else if err := json.Unmarshal(a.Pod, pod); err != nil {
		panic(err)
	}
	rules := map[string][]ExtRule{"filter": x.Filter, "prioritize": x.Prioritize, "preempt": x.Preempt, "bind": x.Bind}[verb]
	vk := x.Name + "/" + verb
	e.calls[vk]++
	e.calls[vk+"/"+podKey(pod)]++
	rule, index := &ExtRule{}, -1
	for i := range rules {
		if e.when(&rules[i].When, pod, e.calls[vk], e.calls[vk+"/"+podKey(pod)]) {
			rule, index = &rules[i], i
			break
		}
	}
	// The request, canonical.
	objects := Rec{}
	rec := Rec{}
	var names []string
	objs := map[string]*v1.Node{}
	raws := map[string]json.RawMessage{}
	if verb == "bind" {
		rec = Rec{"PodName": a.PodName, "PodNamespace": a.PodNamespace, "PodUID": a.PodUID, "Node": a.Node}
	} else {
		rec["Pod"] = podKey(pod)
		rec["podDigest"] = e.object(a.Pod, objects)
	}
	switch verb {
	case "filter", "prioritize":
		rec["Nodes"], rec["NodeNames"] = nil, nil
		if a.Nodes != nil {
			digests := []string{}
			names = []string{}
			for _, raw := range a.Nodes.Items {
				n := &v1.Node{}
				_ = json.Unmarshal(raw, n)
				names = append(names, n.Name)
				objs[n.Name], raws[n.Name] = n, raw
				digests = append(digests, e.object(raw, objects))
			}
			rec["Nodes"], rec["nodeDigests"] = names, digests
		}
		if a.NodeNames != nil {
			names = *a.NodeNames
			rec["NodeNames"] = names
			for _, n := range names {
				objs[n] = e.node(n)
			}
		}
	case "preempt":
		rec["NodeNameToVictims"], rec["NodeNameToMetaVictims"] = nil, nil
		if a.NodeNameToVictims != nil {
			m := Rec{}
			for n, v := range a.NodeNameToVictims {
				pods, digests := []string{}, []string{}
				for _, raw := range v.Pods {
					p := &v1.Pod{}
					_ = json.Unmarshal(raw, p)
					pods = append(pods, podKey(p))
					digests = append(digests, e.object(raw, objects))
				}
				m[n] = Rec{"Pods": pods, "podDigests": digests, "NumPDBViolations": v.NumPDBViolations}
			}
			rec["NodeNameToVictims"] = m
		}
		if a.NodeNameToMetaVictims != nil {
			rec["NodeNameToMetaVictims"] = a.NodeNameToMetaVictims
		}
	}
	if len(objects) > 0 {
		rec["objects"] = objects
	}
	ex := &exchange{request: rec, status: http.StatusOK, delay: rule.Delay, dropped: rule.Drop, rule: index}
	e.last[vk+"/"+podKey(pod)] = ex
	ans := &answer{status: http.StatusOK, delay: rule.Delay, drop: rule.Drop}
	say := func(v any, shown Rec) {
		b, _ := json.Marshal(v)
		ex.response = shown
		ans.body = func() []byte { return b }
	}
	if rule.Status != 0 || rule.Raw != nil {
		if rule.Status != 0 {
			ex.status, ans.status = rule.Status, rule.Status
		}
		text := ""
		if rule.Raw != nil {
			text = *rule.Raw
		}
		ex.raw = &text
		ans.body = func() []byte { return []byte(text) }
		return ans
	}
	switch verb {
	case "filter":
		res := extenderv1.ExtenderFilterResult{Error: rule.Error}
		e.filter(x, rule, pod, a, names, objs, raws, &res, say)
	case "prioritize":
		list := []map[string]any{}
		for _, n := range names {
			r := e.nodeRule(rule.Nodes, pod, objs[n], n)
			score := r.Score
			if r.ScoreLabel != "" && objs[n] != nil {
				if k, err := strconv.ParseInt(objs[n].Labels[r.ScoreLabel], 10, 64); err == nil {
					score = k
				}
			}
			if r.ScoreHash != 0 {
				score = int64(fnv32(podKey(pod)+"@"+n) % r.ScoreHash)
			}
			if !r.Omit {
				list = append(list, map[string]any{"Host": n, "Score": score})
			}
			if r.Twice {
				list = append(list, map[string]any{"Host": n, "Score": score})
			}
		}
		list = append(list, rule.Scores...)
		if rule.Reverse {
			for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
				list[i], list[j] = list[j], list[i]
			}
		}
		say(list, Rec{"list": list})
	case "preempt":
		e.preempt(rule, pod, a, objs, say)
	case "bind":
		res := extenderv1.ExtenderBindingResult{Error: rule.Error}
		if rule.Error == "" && rule.Do != "none" {
			ans.late = rule.Do == "late"
			ans.bind = func() {
				err := e.cs.CoreV1().Pods(a.PodNamespace).Bind(e.ctx, &v1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: a.PodNamespace, Name: a.PodName},
					Target: v1.ObjectReference{Kind: "Node", Name: a.Node}}, metav1.CreateOptions{})
				if err != nil {
					res.Error = err.Error()
				}
				e.mu.Lock()
				ex.response = Rec{"Error": res.Error}
				e.mu.Unlock()
			}
		}
		ex.response = Rec{"Error": res.Error}
		ans.body = func() []byte { b, _ := json.Marshal(res); return b }
	default:
		ans.status, ex.status = http.StatusNotFound, http.StatusNotFound
		ans.body = func() []byte { return nil }
	}
	return ans
}

func (e *extenders) when(w *ExtWhen, pod *v1.Pod, calls, podCalls int) bool {
	for k, v := range w.PodLabel {
		if pod.Labels[k] != v {
			return false
		}
	}
	if w.PodHash != nil && !w.PodHash.holds(podKey(pod)) {
		return false
	}
	if w.Calls != nil && (calls < w.Calls[0] || calls > w.Calls[1]) {
		return false
	}
	if w.PodCalls != nil && (podCalls < w.PodCalls[0] || podCalls > w.PodCalls[1]) {
		return false
	}
	if w.Nominated != nil && *w.Nominated != (pod.Status.NominatedNodeName != "") {
		return false
	}
	return true
}

// node looks a node up in the API server, as an extender with a cache of its own would.
func (e *extenders) node(name string) *v1.Node {
	o, err := e.s.tracker.Get(ndGVR, "", name)
	if err != nil {
		return nil
	}
	return o.(*v1.Node)
}

func (m *NodeMatch) matches(pod *v1.Pod, node *v1.Node, name string) bool {
	var labels map[string]string
	if node != nil {
		labels = node.Labels
	}
	if len(m.Names) > 0 {
		ok := false
		for _, n := range m.Names {
			ok = ok || n == name
		}
		if !ok {
			return false
		}
	}
	for k, v := range m.Label {
		if labels[k] != v {
			return false
		}
	}
	if m.HasLabel != "" {
		if _, ok := labels[m.HasLabel]; !ok {
			return false
		}
	}
	if m.NoLabel != "" {
		if _, ok := labels[m.NoLabel]; ok {
			return false
		}
	}
	if m.Hash != nil && !m.Hash.holds(podKey(pod)+"@"+name) {
		return false
	}
	if m.SameLabel != "" {
		a, ok := pod.Labels[m.SameLabel]
		b, ok2 := labels[m.SameLabel]
		if !ok || !ok2 || a != b {
			return false
		}
	}
	return true
}

func (e *extenders) nodeRule(rules []ExtNode, pod *v1.Pod, node *v1.Node, name string) *ExtNode {
	for i := range rules {
		if rules[i].Match.matches(pod, node, name) {
			return &rules[i]
		}
	}
	return &ExtNode{}
}

func (e *extenders) filter(x *ExtenderServer, rule *ExtRule, pod *v1.Pod, a rawArgs, names []string, objs map[string]*v1.Node, raws map[string]json.RawMessage,
	res *extenderv1.ExtenderFilterResult, say func(any, Rec)) {
	text := func(m, node string) string {
		return strings.NewReplacer("%n", node, "%p", pod.Name).Replace(m)
	}
	kept := []string{}
	put := func(m *extenderv1.FailedNodesMap, node, msg string) {
		if *m == nil {
			*m = extenderv1.FailedNodesMap{}
		}
		(*m)[node] = msg
	}
	for _, n := range names {
		r := e.nodeRule(rule.Nodes, pod, objs[n], n)
		switch r.Do {
		case "", "keep":
			kept = append(kept, n)
		case "keepAndFail":
			kept = append(kept, n)
			put(&res.FailedNodes, n, text(r.Message, n))
		case "fail":
			put(&res.FailedNodes, n, text(r.Message, n))
		case "unresolvable":
			put(&res.FailedAndUnresolvableNodes, n, text(r.Message, n))
		case "both":
			put(&res.FailedNodes, n, text(r.Message, n))
			put(&res.FailedAndUnresolvableNodes, n, text(r.Message, n)+" (unresolvable)")
		}
	}
	for n, m := range rule.AlsoFail {
		put(&res.FailedNodes, n, m)
	}
	if rule.Duplicate && len(kept) > 0 {
		kept = append(kept, kept[0])
	}
	kept = append(kept, rule.Extra...)
	if rule.Reverse {
		for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
			kept[i], kept[j] = kept[j], kept[i]
		}
	}
	if rule.Error != "" {
		kept = []string{}
	}
	form := rule.Form
	if form == "" {
		form = "names"
		if a.Nodes != nil {
			form = "nodes"
		}
	}
	shown := Rec{"Nodes": nil, "NodeNames": nil, "FailedNodes": res.FailedNodes, "FailedAndUnresolvableNodes": res.FailedAndUnresolvableNodes, "Error": res.Error}
	if form == "names" || form == "both" {
		res.NodeNames = &kept
		shown["NodeNames"] = kept
	}
	if form == "nodes" || form == "both" {
		list := &v1.NodeList{Items: []v1.Node{}}
		var items []any
		for _, n := range kept {
			o := objs[n]
			if o == nil {
				o = e.node(n)
			}
			if o == nil {
				o = &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: n}}
			}
			o = o.DeepCopy()
			if raws[n] == nil {
				o.TypeMeta = metav1.TypeMeta{}
			}
			for k, v := range rule.SetLabels {
				if o.Labels == nil {
					o.Labels = map[string]string{}
				}
				o.Labels[k] = v
			}
			for k, v := range rule.SetAlloc {
				if o.Status.Allocatable == nil {
					o.Status.Allocatable = v1.ResourceList{}
				}
				o.Status.Allocatable[v1.ResourceName(k)] = resource.MustParse(v)
			}
			list.Items = append(list.Items, *o)
			c := canonical(o)
			if raws[n] != nil && bytes.Equal(c, canonicalJSON(raws[n])) {
				items = append(items, n)
			} else {
				items = append(items, json.RawMessage(c))
			}
		}
		if items == nil {
			items = []any{}
		}
		res.Nodes = list
		shown["Nodes"] = items
	}
	say(res, shown)
}

func (e *extenders) preempt(rule *ExtRule, pod *v1.Pod, a rawArgs, objs map[string]*v1.Node, say func(any, Rec)) {
	res := extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{}}
	in := map[string]*extenderv1.MetaVictims{}
	for n, v := range a.NodeNameToMetaVictims {
		in[n] = v
	}
	for n, v := range a.NodeNameToVictims {
		mv := &extenderv1.MetaVictims{Pods: []*extenderv1.MetaPod{}, NumPDBViolations: v.NumPDBViolations}
		for _, raw := range v.Pods {
			p := &v1.Pod{}
			_ = json.Unmarshal(raw, p)
			mv.Pods = append(mv.Pods, &extenderv1.MetaPod{UID: string(p.UID)})
		}
		in[n] = mv
	}
	for n, v := range in {
		r := e.nodeRule(rule.Nodes, pod, e.node(n), n)
		if r.Do == "drop" {
			continue
		}
		out := &extenderv1.MetaVictims{Pods: append([]*extenderv1.MetaPod{}, v.Pods...), NumPDBViolations: v.NumPDBViolations + r.AddViolations}
		if r.Do == "empty" {
			out.Pods = out.Pods[:0]
		} else {
			out.Pods = out.Pods[:max(0, len(out.Pods)-r.DropVictims)]
		}
		if r.Reverse {
			for i, j := 0, len(out.Pods)-1; i < j; i, j = i+1, j-1 {
				out.Pods[i], out.Pods[j] = out.Pods[j], out.Pods[i]
			}
		}
		if r.AddVictim != "" {
			out.Pods = append(out.Pods, &extenderv1.MetaPod{UID: r.AddVictim})
		}
		res.NodeNameToMetaVictims[n] = out
	}
	for _, n := range rule.Extra {
		out := &extenderv1.MetaVictims{Pods: []*extenderv1.MetaPod{}}
		switch rule.Victims {
		case "none":
		case "", "lower":
			for _, p := range e.podsOn(n) {
				if priority(p) < priority(pod) {
					out.Pods = append(out.Pods, &extenderv1.MetaPod{UID: string(p.UID)})
				}
			}
		default:
			out.Pods = append(out.Pods, &extenderv1.MetaPod{UID: rule.Victims})
		}
		res.NodeNameToMetaVictims[n] = out
	}
	say(res, Rec{"NodeNameToMetaVictims": res.NodeNameToMetaVictims})
}

func priority(p *v1.Pod) int32 {
	if p.Spec.Priority != nil {
		return *p.Spec.Priority
	}
	return 0
}

// podsOn lists a node's pods: higher priority first, then by namespace and name.
func (e *extenders) podsOn(node string) []*v1.Pod {
	l, err := e.s.tracker.List(podGVR, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "")
	if err != nil {
		return nil
	}
	var out []*v1.Pod
	for i := range l.(*v1.PodList).Items {
		if p := &l.(*v1.PodList).Items[i]; p.Spec.NodeName == node {
			out = append(out, p)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if a, b := priority(out[i]), priority(out[j]); a != b {
			return a > b
		}
		return podKey(out[i]) < podKey(out[j])
	})
	return out
}
