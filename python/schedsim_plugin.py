"""Writing a plugin of schedsim in Python: a class with a method for each extension point at which it takes part.

    import schedsim_plugin
    from schedsim_plugin import Status

    class TeamNodes:
        def __init__(self, handle):
            self.handle = handle

        def Filter(self, state, pod, node):
            if node.label("team") in (None, pod.label("team")):
                return Status.Success()
            return Status.UnschedulableAndUnresolvable("node(s) belonged to another team")

        def Score(self, state, pod, node):
            return 100 if node.label("team") else 0

    schedsim_plugin.serve(TeamNodes)

`schedsim run --plugin team_nodes.py` starts it and finds this module by itself. The methods, each of which may be left out:

    __init__(self, handle)                      made once for each profile that names the plugin; a Refused refuses the arguments
    Less(self, a, b)                            QueueSort: whether a is scheduled before b (QueuedPods)
    PreEnqueue(self, pod)                       a Status
    PreFilter(self, state, pod, nodes)          a Status, a list of the only names of nodes that can fit, or both as a pair
    AddPod(self, state, pod, other, node), RemovePod(self, state, pod, other, node)       a Status
    Filter(self, state, pod, node)              a Status
    PostFilter(self, state, pod, statuses)      a Status, or a pair of it and the name of the node to nominate
    PreScore(self, state, pod, nodes)           a Status
    Score(self, state, pod, node)               a whole number, or a Status
    NormalizeScore(self, state, pod, nodes, scores)     changes the list `scores`, which has one for each node; a Status
    Reserve(self, state, pod, node_name), Unreserve(self, state, pod, node_name)          a Status, nothing
    Permit(self, state, pod, node_name)         a Status, or to wait a pair: Status.Wait(), seconds
    PreBindPreFlight(self, state, pod, node_name)       a Status
    PreBind(self, state, pod, node_name, done)  a Status; or LATER, and done(status) ends it then
    Bind(self, state, pod, node_name, done)     the same
    PostBind(self, state, pod, node_name)
    SignPod(self, pod)                          a dict or pairs of texts, or a Status that is no success
    EventsToRegister(self)                      a list of Events, or a Status
    OnPod(self, old_pod, new_pod)               what the informer of pods sees; None: an addition, or a deletion

No answer (None) is Success. A class may say what Filter or Score read with `filter_reads` or `score_reads`, "node" or
"nodeObject"; answers are then kept, as docs/plugins.md says. The plugin is called `name`, or as its class.

`state` is a dict for the attempt of one pod, which AddPod and RemovePod get as a copy where the scheduler tries what
would be. Pods and nodes are to be looked at during the call that got them. What is printed goes to standard error. A
plugin must not ask for the real time, sleep, or start threads; `random` begins with the same seed each time.
"""
import copy
import json
import os
import random
import runpy
import sys
import traceback

PROTOCOL = 1
LATER = object()
METHODS = ("Less", "PreEnqueue", "PreFilter", "AddPod", "RemovePod", "Filter", "PostFilter", "PreScore", "Score",
           "NormalizeScore", "Reserve", "Unreserve", "Permit", "PreBindPreFlight", "PreBind", "Bind", "PostBind",
           "SignPod", "EventsToRegister", "OnPod")


class Refused(Exception):
    """Raised by a plugin's __init__: the arguments will not do."""


class Status:
    """An answer: a code of kube-scheduler, and reasons."""
    __slots__ = ("code", "reasons")

    def __init__(self, code="Success", *reasons):
        self.code = code
        self.reasons = list(reasons)

    def __repr__(self):
        return f"Status({self.code!r}, {', '.join(map(repr, self.reasons))})"

    @property
    def ok(self):
        return self.code == "Success"

    def message(self):
        return ", ".join(self.reasons)

    @staticmethod
    def Success():
        return Status()

    @staticmethod
    def Error(*reasons):
        return Status("Error", *reasons)

    @staticmethod
    def Unschedulable(*reasons):
        return Status("Unschedulable", *reasons)

    @staticmethod
    def UnschedulableAndUnresolvable(*reasons):
        return Status("UnschedulableAndUnresolvable", *reasons)

    @staticmethod
    def Wait(*reasons):
        return Status("Wait", *reasons)

    @staticmethod
    def Skip(*reasons):
        return Status("Skip", *reasons)

    @staticmethod
    def Pending(*reasons):
        return Status("Pending", *reasons)


class Event:
    """What may help a pod that the plugin rejected: a resource ("Node", "AssignedPod"), and what happens to it ("Add",
    "UpdateNodeLabel"). hint(pod, old, new) says whether this one does; old is None for additions, new for deletions."""

    def __init__(self, resource, *actions, hint=None):
        self.resource = resource
        self.actions = actions
        self.hint = hint


class Object:
    """An API object. `object` is all of it, as JSON has it."""

    def __init__(self, content):
        self.object = content
        metadata = content.get("metadata") or {}
        self.name = metadata.get("name") or ""
        self.namespace = metadata.get("namespace") or ""
        self.uid = metadata.get("uid") or ""
        self.labels = metadata.get("labels") or {}
        self.annotations = metadata.get("annotations") or {}

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"{type(self).__name__}({self.key})"

    @property
    def kind(self):
        return self.object.get("kind", "")

    @property
    def key(self):
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def label(self, key, default=None):
        return self.labels.get(key, default)

    def annotation(self, key, default=None):
        return self.annotations.get(key, default)


class Pod(Object):
    def __init__(self, told):
        super().__init__(told["object"])
        self.uid = told.get("uid", self.uid)
        # Pods of the informers come without what is told of others.
        self.priority = told.get("priority", self.spec.get("priority") or 0)
        self._requests = told.get("requests", {})

    @property
    def spec(self):
        return self.object.get("spec") or {}

    @property
    def node_name(self):
        return self.spec.get("nodeName") or ""

    @property
    def nominated_node_name(self):
        return (self.object.get("status") or {}).get("nominatedNodeName") or ""

    @property
    def scheduler_name(self):
        return self.spec.get("schedulerName") or ""

    def request(self, resource):
        """Thousandths of cpu, bytes of memory and ephemeral-storage, wholes of others."""
        return self._requests.get(resource, 0)


class QueuedPod:
    def __init__(self, told, pods):
        self.pod = pods[told["pod"]]
        self.timestamp = told["timestamp"]
        self.attempts = told["attempts"]


class Node:
    """A node with its pods. Amounts are in the units of Pod.request."""

    def __init__(self, connection, name):
        self._connection = connection
        self.name = name
        self.object = {}
        self.labels = {}
        self.annotations = {}
        self._details = None

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"Node({self.name})"

    def _learn(self, told, pods):
        if "object" in told:
            self.object = told["object"]
            metadata = self.object.get("metadata") or {}
            self.labels = metadata.get("labels") or {}
            self.annotations = metadata.get("annotations") or {}
        if "pods" in told:
            self._details = ([pods[uid] for uid in told["pods"]], told["allocatable"], told["requested"])

    def label(self, key, default=None):
        return self.labels.get(key, default)

    def annotation(self, key, default=None):
        return self.annotations.get(key, default)

    def _detail(self, index):
        # From the first time on, all nodes come with them.
        if self._details is None:
            self._connection.ask("details", name=self.name)
        return self._details[index]

    @property
    def pods(self):
        return self._detail(0)

    def allocatable(self, resource):
        return self._detail(1).get(resource, 0)

    def requested(self, resource):
        return self._detail(2).get(resource, 0)


class NodeStatuses:
    """Why nodes failed in this attempt: by name, (status, plugin)."""

    def __init__(self, connection):
        self._connection = connection
        self._nodes = None

    def _all(self):
        if self._nodes is None:
            told = self._connection.ask("statuses")["nodes"]
            self._nodes = {node["name"]: (_status(node["status"]), node["plugin"]) for node in told}
        return self._nodes

    def status(self, node):
        return self._all()[node.name][0]

    def plugin(self, node):
        return self._all()[node.name][1]


class Timer:
    def __init__(self, connection, number):
        self._connection = connection
        self._number = number

    def cancel(self):
        if self._connection.timers.pop(self._number, None) is not None:
            self._connection.tell("cancel", timer=self._number)


class Done:
    """Ends PreBind or Bind; to be called once."""

    def __init__(self, connection, number):
        self._connection = connection
        self._number = number
        self.is_over = False

    def __call__(self, status=None):
        if self.is_over:
            return
        self.is_over = True
        self._connection.cancels.pop(self._number, None)
        self._connection.ask("finish", done=self._number, status=_told(status))

    def on_cancel(self, work):
        """PreBind only: work(cause) when the pod is cancelled. done(Status.Error("context canceled")) tells that cause."""
        self._connection.cancels[self._number] = work
        self._connection.tell("onCancel", done=self._number)


class Handle:
    """The scheduler around a plugin. Times are in seconds, and `now` in nanoseconds since 1970; both are virtual."""

    def __init__(self, connection, args, version):
        self._connection = connection
        self.args = args
        self.kubernetes_version = version

    @property
    def now(self):
        return self._connection.now

    def nodes(self):
        """The nodes at the start of the attempt, in the order of the snapshot."""
        return self._connection.snapshot()

    def node(self, name):
        """None: there is none of that name."""
        found = self._connection.ask("node", name=name)["found"]
        return self._connection.nodes[name] if found else None

    def find_pod(self, namespace, name):
        """As the informers have it; None: there is none."""
        found = self._connection.ask("object", kind="Pod", namespace=namespace, name=name)["object"]
        return None if found is None else Pod({"object": found})

    def find_object(self, kind, namespace, name):
        """An object of another kind that scheduling reads; None: there is none."""
        found = self._connection.ask("object", kind=kind, namespace=namespace, name=name)["object"]
        return None if found is None else Object(found)

    def list_objects(self, kind):
        """All of them, by "namespace/name". Not for pods."""
        return [Object(content) for content in self._connection.ask("objects", kind=kind)["objects"]]

    def nominated_pods(self, node_name):
        return self._connection.pods_of(self._connection.ask("nominated", node=node_name))

    def waiting_pods(self):
        """The pods of all profiles that wait on Permit, in the order in which they began to."""
        return self._connection.pods_of(self._connection.ask("waiting"))

    def allow(self, pod, plugin=""):
        """Lets a waiting pod go on as far as this plugin is concerned. False: it does not wait."""
        return self._connection.ask("allow", uid=pod.uid, plugin=plugin)["found"]

    def reject(self, pod, message, plugin=""):
        return self._connection.ask("reject", uid=pod.uid, plugin=plugin, message=message)["found"]

    def run_filters(self, pod, node):
        """The profile's filters, with the state of the running call and the pods that are nominated to the node."""
        return _status(self._connection.ask("filters", pod=pod.uid, node=node.name)["status"])

    def activate(self, namespace, name):
        return self._connection.ask("activate", namespace=namespace, name=name)["found"]

    def post(self, seconds, work):
        """Runs work() later."""
        number = self._connection.next_number()
        self._connection.timers[number] = work
        self._connection.tell("post", timer=number, delay=_nanoseconds(seconds))
        return Timer(self._connection, number)

    def bind(self, pod, node_name, done):
        """Creates the pod's binding; done(error) later, with "" where it went well."""
        self._connection.tell("bind", pod=pod.uid, node=node_name, called=self._connection.later(done))

    def delete_pod(self, pod, done=lambda error: None):
        self._connection.tell("delete", pod=pod.uid, called=self._connection.later(done))

    def record_event(self, pod, type, reason, action, note):
        self._connection.tell("event", pod=pod.uid, type=type, reason=reason, action=action, note=note)

    def note(self, point, pod, node_name="", status=None):
        """Puts a record of what the plugin did into the trace."""
        self._connection.tell("note", pod=pod.uid, point=point, node=node_name, status=_told(status))


def _nanoseconds(seconds):
    return round(seconds * 1_000_000_000)


def _status(told):
    return Status() if told is None else Status(told["code"], *told["reasons"])


def _told(status):
    if status is None:
        return None
    if not isinstance(status, Status):
        raise TypeError(f"the answer is {status!r}, expected a Status or None")
    return None if status.code == "Success" else {"code": status.code, "reasons": status.reasons}


def _pair(answer):
    """(status, what comes with it)."""
    return answer if isinstance(answer, tuple) else (answer, None)


def _place_of(error):
    """Where in the plugin's own files it happened."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    return f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""


class _Connection:
    def __init__(self, classes):
        self.classes = {getattr(each, "name", each.__name__): each for each in classes}
        self.plugins = {}
        self.pods = {}
        self.nodes = {}
        self.states = {}
        self.timers = {}
        self.called = {}
        self.cancels = {}
        self.hints = {}
        self.now = 0
        self._last_number = 0
        # What plugins print must not come between the lines.
        self._input = os.fdopen(os.dup(0), "rb", buffering=1 << 20)
        self._output = os.fdopen(os.dup(1), "wb", buffering=1 << 20)
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        sys.stdout.flush()
        os.dup2(2, 1)

    def run(self):
        while True:
            line = self._read()
            if line is None:
                return
            if "hello" in line:
                self._send({"protocol": PROTOCOL, "plugins": [self._describe(*each) for each in self.classes.items()]})
            else:
                self._handle(line)

    @staticmethod
    def _describe(name, plugin):
        told = {"name": name, "methods": [method for method in METHODS if hasattr(plugin, method)]}
        for field, attribute in (("filterReads", "filter_reads"), ("scoreReads", "score_reads")):
            if hasattr(plugin, attribute):
                told[field] = getattr(plugin, attribute)
        return told

    def next_number(self):
        self._last_number += 1
        return self._last_number

    def later(self, done):
        number = self.next_number()
        self.called[number] = done
        return number

    def _read(self):
        self._output.flush()
        line = self._input.readline()
        return json.loads(line) if line else None

    def _send(self, line):
        self._output.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def tell(self, what, **fields):
        """Asks for what has no reply."""
        self._send({"do": what, **fields})

    def ask(self, what, **fields):
        """Calls may come before the reply does: what is asked for may need this plugin."""
        self._send({"do": what, **fields})
        while True:
            line = self._read()
            if line is None:
                os._exit(0)
            if "reply" in line:
                self._learn(line)
                return line["reply"]
            self._handle(line)

    def _learn(self, line):
        learned = line.get("learn")
        if learned is not None:
            if learned.get("forget"):
                self.pods = {}
                self.nodes = {}
            for told in learned["pods"]:
                self.pods[told["uid"]] = Pod(told)
            for told in learned["nodes"]:
                node = self.nodes.get(told["name"])
                if node is None:
                    node = self.nodes[told["name"]] = Node(self, told["name"])
                node._learn(told, self.pods)
        for change in line.get("states", ()):
            if change[0] == "drop":
                self.states.pop(change[1], None)
            else:
                known = self.states.get(change[1])
                self.states[change[2]] = copy.deepcopy(known) if known else {}

    def snapshot(self):
        return [self.nodes[name] for name in self.ask("snapshot")["nodes"]]

    def pods_of(self, reply):
        return [self.pods[uid] for uid in reply["pods"]]

    def _handle(self, line):
        self._learn(line)
        self.now = line["now"]
        try:
            answer = getattr(self, "_call_" + line["call"])(line, self.plugins.get(line["plugin"]))
            self._send({"answer": answer})
        except Exception as error:  # Whatever a plugin raises ends the run.
            traceback.print_exc()
            sys.stderr.flush()
            self._send({"failed": f"{type(error).__name__}: {error}{_place_of(error)}"})

    def _state(self, line):
        return self.states.setdefault(line["state"], {})

    def _nodes(self, line):
        return [self.nodes[name] for name in line.get("nodes", ())]

    # ---- One for each call ----

    def _call_New(self, line, _):
        handle = Handle(self, line["args"], line["kubernetesVersion"])
        plugin = self.classes[line["name"]]
        try:
            self.plugins[line["plugin"]] = plugin(handle) if plugin.__init__ is not object.__init__ else plugin()
        except Refused as refused:
            return {"status": _told(Status.Error(str(refused)))}
        return {}

    def _call_Less(self, line, plugin):
        return {"less": bool(plugin.Less(QueuedPod(line["a"], self.pods), QueuedPod(line["b"], self.pods)))}

    def _call_PreEnqueue(self, line, plugin):
        return {"status": _told(plugin.PreEnqueue(self.pods[line["pod"]]))}

    def _call_PreFilter(self, line, plugin):
        answer = plugin.PreFilter(self._state(line), self.pods[line["pod"]], _Snapshot(self))
        status, names = (None, answer) if isinstance(answer, list) else _pair(answer)
        return {"status": _told(status), "nodes": names}

    def _with_other(self, line, method):
        pod, other, node = self.pods[line["pod"]], self.pods[line["other"]], self._nodes(line)[0]
        return {"status": _told(method(self._state(line), pod, other, node))}

    def _call_AddPod(self, line, plugin):
        return self._with_other(line, plugin.AddPod)

    def _call_RemovePod(self, line, plugin):
        return self._with_other(line, plugin.RemovePod)

    def _call_Filter(self, line, plugin):
        state, pod = self._state(line), self.pods[line["pod"]]
        return {"statuses": [_told(plugin.Filter(state, pod, node)) for node in self._nodes(line)]}

    def _call_PostFilter(self, line, plugin):
        status, name = _pair(plugin.PostFilter(self._state(line), self.pods[line["pod"]], NodeStatuses(self)))
        return {"status": _told(status), "nominate": name}

    def _call_PreScore(self, line, plugin):
        return {"status": _told(plugin.PreScore(self._state(line), self.pods[line["pod"]], self._nodes(line)))}

    def _call_Score(self, line, plugin):
        state, pod = self._state(line), self.pods[line["pod"]]
        scores = []
        for node in self._nodes(line):
            score = plugin.Score(state, pod, node)
            if isinstance(score, Status) and not score.ok:
                return {"status": _told(score)}
            if not isinstance(score, int):
                raise TypeError(f"Score gave {score!r} for node {node.name}, expected a whole number or a Status")
            scores.append(int(score))
        return {"scores": scores}

    def _call_NormalizeScore(self, line, plugin):
        scores = line["scores"]
        status = plugin.NormalizeScore(self._state(line), self.pods[line["pod"]], self._nodes(line), scores)
        return {"status": _told(status), "scores": scores}

    def _at_node(self, line, method):
        return {"status": _told(method(self._state(line), self.pods[line["pod"]], line["node"]))}

    def _call_Reserve(self, line, plugin):
        return self._at_node(line, plugin.Reserve)

    def _call_Unreserve(self, line, plugin):
        return self._at_node(line, plugin.Unreserve)

    def _call_PreBindPreFlight(self, line, plugin):
        return self._at_node(line, plugin.PreBindPreFlight)

    def _call_PostBind(self, line, plugin):
        return self._at_node(line, plugin.PostBind)

    def _call_Permit(self, line, plugin):
        status, seconds = _pair(plugin.Permit(self._state(line), self.pods[line["pod"]], line["node"]))
        if seconds is None and isinstance(status, Status) and status.code == "Wait":
            raise TypeError("Permit gave Status.Wait() alone, expected how long to wait as well: Status.Wait(), seconds")
        return {"status": _told(status), "timeout": _nanoseconds(seconds or 0)}

    def _ends_later(self, line, method):
        done = Done(self, line["done"])
        status = method(self._state(line), self.pods[line["pod"]], line["node"], done)
        if status is LATER or done.is_over:
            return {"later": True}
        done.is_over = True
        return {"status": _told(status)}

    def _call_PreBind(self, line, plugin):
        return self._ends_later(line, plugin.PreBind)

    def _call_Bind(self, line, plugin):
        return self._ends_later(line, plugin.Bind)

    def _call_SignPod(self, line, plugin):
        parts = plugin.SignPod(self.pods[line["pod"]])
        if isinstance(parts, Status):
            return {"status": _told(parts)}
        pairs = parts.items() if isinstance(parts, dict) else parts or ()
        return {"parts": [{"key": str(key), "value": str(value)} for key, value in pairs]}

    def _call_EventsToRegister(self, line, plugin):
        events = plugin.EventsToRegister()
        if isinstance(events, Status):
            return {"status": _told(events)}
        told = []
        for event in events or ():
            told.append({"resource": event.resource, "actions": list(event.actions)})
            if event.hint is not None:
                number = told[-1]["hint"] = self.next_number()
                self.hints[number] = event.hint
        return {"events": told}

    def _call_Hint(self, line, _):
        answer = self.hints[line["hint"]](self.pods[line["pod"]], _object(line["old"]), _object(line["new"]))
        if isinstance(answer, Status):
            return {"queue": True, "status": _told(answer)}
        return {"queue": bool(answer)}

    def _call_OnPod(self, line, plugin):
        plugin.OnPod(_object(line["old"]), _object(line["new"]))
        return {}

    def _call_Timer(self, line, _):
        work = self.timers.pop(line["timer"], None)
        if work is not None:
            work()
        return {}

    def _call_Called(self, line, _):
        self.called.pop(line["called"])(line["error"])
        return {}

    def _call_Cancelled(self, line, _):
        work = self.cancels.pop(line["done"], None)
        if work is not None:
            work(line["cause"])
        return {}


class _Snapshot:
    """The nodes of the snapshot, which are asked for where somebody looks at them."""

    def __init__(self, connection):
        self._connection = connection
        self._known = None

    def _all(self):
        if self._known is None:
            self._known = self._connection.snapshot()
        return self._known

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())

    def __getitem__(self, index):
        return self._all()[index]


def _object(content):
    if content is None:
        return None
    return Pod({"object": content}) if content.get("kind") == "Pod" else Object(content)


_served = False


def serve(*plugins):
    """Speaks with schedsim for these classes, until the run is over."""
    global _served
    _served = True
    random.seed(0)
    _Connection(plugins).run()


def _main():
    # Plugins find this module under its name.
    sys.modules["schedsim_plugin"] = sys.modules["__main__"]
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
    if not _served:
        sys.exit("it does not call schedsim_plugin.serve(...), expected that at its end")


if __name__ == "__main__":
    _main()
