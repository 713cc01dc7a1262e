"""The plugins of scripted_plugins.cc in Python: ScriptedA, ScriptedB, ScriptedC and Plain do what their arguments say,
and LowFirst sorts the queue by lower priority. Both must decide the same. docs/conformance.md has the language."""
import schedsim_plugin
from schedsim_plugin import Event, LATER, Refused, Status


def hash_of(text):
    """FNV-1a of 32 bits."""
    value = 2166136261
    for byte in text.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


def labels_hold(wanted, thing):
    return all(thing.label(key, "") == value for key, value in (wanted or {}).items())


def hash_holds(rule, text):
    return rule is None or hash_of(text) % rule["mod"] < rule["below"]


def within(call, limits):
    return limits is None or limits[0] <= call <= limits[1]


def status_of(rule):
    if rule is None:
        return Status()
    message = rule.get("message")
    return Status(rule.get("code") or "Success", *([] if message is None else [message]))


class Scripted:
    """Neither registers events nor signs pods."""

    def __init__(self, handle):
        self.handle = handle
        self.args = handle.args if isinstance(handle.args, dict) else {}
        self.calls = {}
        if self.args.get("factoryError"):
            raise Refused(self.args["factoryError"])

    def PreEnqueue(self, pod):
        status = status_of(self.find("preEnqueue", pod, call=self.called("PreEnqueue", pod)))
        if not status.ok:
            self.handle.note("PreEnqueue", pod, "", status)
        return status

    def PreFilter(self, state, pod, nodes):
        call = self.called("PreFilter", pod)
        if self.args.get("count"):
            counts = {}
            for node in nodes:
                counted = sum(labels_hold(self.args["count"], each) for each in node.pods)
                if counted:
                    counts[node.name] = counted
            state["counts"] = counts
        rule = self.find("preFilter", pod, call=call)
        if rule is None:
            return Status()
        if rule.get("nodes") is not None:
            return status_of(rule), rule["nodes"]
        if rule.get("nodesLabel") is None:
            return status_of(rule)
        return status_of(rule), [node.name for node in nodes if labels_hold(rule["nodesLabel"], node)]

    def AddPod(self, state, pod, other, node):
        self.bump(state, other, node, 1)
        return status_of(self.find("addPod", pod, node=node, state=state, other=other))

    def RemovePod(self, state, pod, other, node):
        self.bump(state, other, node, -1)
        return status_of(self.find("removePod", pod, node=node, state=state, other=other))

    def Filter(self, state, pod, node):
        return status_of(self.find("filter", pod, node=node, state=state))

    def PostFilter(self, state, pod, statuses):
        rule = self.find("postFilter", pod, call=self.called("PostFilter", pod))
        status, nominated = Status("Unschedulable"), None
        if rule is not None:
            status = status_of(rule)
            if rule.get("result") == "override":
                nominated = rule.get("nominate") or ""
        self.handle.note("PostFilter", pod, "", status)
        return status, nominated

    def PreScore(self, state, pod, nodes):
        return status_of(self.find("preScore", pod))

    def Score(self, state, pod, node):
        rule = self.find("score", pod, node=node, state=state)
        if rule is None:
            return 0
        score = rule.get("score") or 0
        if rule.get("scoreLabel"):
            try:
                score = int(node.label(rule["scoreLabel"], ""))
            except ValueError:
                pass
        if rule.get("scoreHash"):
            score = hash_of(f"{pod.key}@{node.name}") % rule["scoreHash"]
        status = status_of(rule)
        return score if status.ok else status

    def NormalizeScore(self, state, pod, nodes, scores):
        how = self.args.get("normalize") or {}
        if how.get("mode") == "default":
            highest = max(scores + [0])
            for i, score in enumerate(scores):
                if highest != 0:
                    score = 100 * score // highest
                if how.get("reverse"):
                    score = 100 if highest == 0 else 100 - score
                scores[i] = score
        elif how.get("mode") == "add":
            scores[:] = [score + (how.get("add") or 0) for score in scores]
        elif how.get("mode") == "fail":
            return Status(how.get("code") or "Success", how.get("message") or "")
        return None

    def Reserve(self, state, pod, node_name):
        return self.at_node("reserve", "Reserve", pod, node_name)

    def Unreserve(self, state, pod, node_name):
        self.handle.note("Unreserve", pod, node_name)

    def Permit(self, state, pod, node_name):
        rule = self.find("permit", pod, call=self.called("Permit", pod), node_name=node_name)
        status = status_of(rule)
        self.handle.note("Permit", pod, node_name, status)
        if rule is None:
            return None
        self.signal(rule)
        return status, rule.get("timeout") or 0

    def PreBindPreFlight(self, state, pod, node_name):
        return self.at_node("preBindPreFlight", "PreBindPreFlight", pod, node_name)

    def PreBind(self, state, pod, node_name, done):
        rule = self.find("preBind", pod, call=self.called("PreBind", pod), node_name=node_name)

        def end(status):
            self.handle.note("PreBind", pod, node_name, status)
            done(status)

        delay = (rule or {}).get("delay") or 0
        if delay <= 0:
            end(status_of(rule))
            return LATER
        timer = self.handle.post(delay, lambda: end(status_of(rule)))

        def cancel(cause):
            timer.cancel()
            end(Status.Error(cause))

        done.on_cancel(cancel)
        return LATER

    def Bind(self, state, pod, node_name, done):
        rule = self.find("bind", pod, call=self.called("Bind", pod), node_name=node_name)

        def end(status):
            self.handle.note("Bind", pod, node_name, status)
            done(status)

        def bind():
            status = status_of(rule)
            if not status.ok or rule.get("do") == "none":
                end(status)
            else:
                self.handle.bind(pod, node_name, lambda error: end(Status.Error(error) if error else Status()))

        if rule is None:
            end(Status.Skip())
        elif rule.get("delay"):
            self.handle.post(rule["delay"], bind)
        else:
            bind()
        return LATER

    def PostBind(self, state, pod, node_name):
        self.handle.note("PostBind", pod, node_name)
        rule = self.find("postBind", pod, call=self.called("PostBind", pod), node_name=node_name)
        if rule is not None:
            self.signal(rule)

    # ---- Rules ----

    def called(self, point, pod):
        key = f"{point} {pod.key}"
        self.calls[key] = self.calls.get(key, 0) + 1
        return self.calls[key]

    def holds(self, when, pod, call, other):
        when = when or {}
        if not labels_hold(when.get("podLabel"), pod) or not within(call, when.get("calls")):
            return False
        if when.get("noLabel") and pod.label(when["noLabel"]) is not None:
            return False
        if not hash_holds(when.get("podHash"), pod.key):
            return False
        if not within(self.calls.get(f"PreFilter {pod.key}", 0), when.get("cycle")):
            return False
        return not when.get("otherLabel") or (other is not None and labels_hold(when["otherLabel"], other))

    @staticmethod
    def matches(match, pod, node, name):
        if match.get("names") and name not in match["names"]:
            return False
        has = node.label if node is not None else lambda key, default=None: default
        if any(has(key, "") != value for key, value in (match.get("label") or {}).items()):
            return False
        if match.get("hasLabel") and has(match["hasLabel"]) is None:
            return False
        if match.get("noLabel") and has(match["noLabel"]) is not None:
            return False
        if not hash_holds(match.get("hash"), f"{pod.key}@{name}"):
            return False
        same = match.get("sameLabel")
        return not same or (pod.label(same) is not None and pod.label(same) == has(same))

    def find(self, point, pod, call=0, node=None, node_name="", state=None, other=None):
        """The first rule that holds; None: none."""
        name = node_name if node is None else node.name
        for rule in self.args.get(point) or ():
            match = rule.get("match") or {}
            if not self.holds(rule.get("when"), pod, call, other) or not self.matches(match, pod, node, name):
                continue
            pods = match.get("podsAtLeast") or 0
            if pods > 0 and (node is None or len(node.pods) < pods):
                continue
            count = match.get("countAtLeast") or 0
            if count > 0 and ((state or {}).get("counts") or {}).get(name, 0) < count:
                continue
            return rule
        return None

    def bump(self, state, pod, node, by):
        if "counts" in state and self.args.get("count") and labels_hold(self.args["count"], pod):
            state["counts"][node.name] = state["counts"].get(node.name, 0) + by

    def at_node(self, rules, point, pod, node_name):
        status = status_of(self.find(rules, pod, call=self.called(point, pod), node_name=node_name))
        self.handle.note(point, pod, node_name, status)
        return status

    def signal(self, rule):
        """Allows and rejects waiting pods, by name."""
        allow, reject = rule.get("allow"), rule.get("reject")
        if allow is None and reject is None:
            return
        for pod in sorted(self.handle.waiting_pods(), key=lambda each: each.key):
            if allow is not None and labels_hold(allow.get("podLabel"), pod):
                self.handle.note("Allow", pod)
                self.handle.allow(pod)
            elif reject is not None and labels_hold(reject.get("podLabel"), pod):
                self.handle.note("Reject", pod)
                self.handle.reject(pod, reject.get("message") or "")


class Plain(Scripted):
    pass


class ScriptedFull(Scripted):
    """Also registers events, and signs pods."""

    def EventsToRegister(self):
        if self.args.get("eventsError"):
            return Status.Error(self.args["eventsError"])
        events = []
        for event in self.args.get("events") or ():
            hint = self.hint_of(event) if event.get("hint") is not None else None
            events.append(Event(event["resource"], *(event.get("actions") or ()), hint=hint))
        return events

    def hint_of(self, event):
        def hint(pod, old, new):
            call = self.called("Hint", pod)
            answer = "Queue"
            for rule in event["hint"]:
                if self.holds(rule.get("when"), pod, call, None) and labels_hold(rule.get("objLabel"), new or old):
                    answer = rule.get("answer") or ""
                    break
            if answer == "Error":
                return Status.Error(f"the hint of {type(self).__name__} fails")
            return answer != "Skip"

        return hint

    def SignPod(self, pod):
        sign = self.args.get("sign") or {}
        if sign.get("mode") == "label":
            return {f"oracle/{type(self).__name__}": pod.label(sign.get("key") or "", "")}
        if sign.get("mode") == "refuse":
            return Status.Unschedulable("not signed")
        if sign.get("mode") == "error":
            return Status.Error("cannot sign")
        return None


class ScriptedA(ScriptedFull):
    pass


class ScriptedB(ScriptedFull):
    pass


class ScriptedC(ScriptedFull):
    pass


class LowFirst:
    def Less(self, a, b):
        return (a.pod.priority, a.timestamp) < (b.pod.priority, b.timestamp)


schedsim_plugin.serve(ScriptedA, ScriptedB, ScriptedC, Plain, LowFirst)
