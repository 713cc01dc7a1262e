"""The plugins of witness_plugin.cc in Python. Both must leave the same notes."""
import schedsim_plugin
from schedsim_plugin import Event, LATER, Status


class Witness:
    def __init__(self, handle):
        self.handle = handle
        self.seen = {}

    def note(self, point, pod, node=""):
        self.handle.note(point, pod, node)

    def Less(self, a, b):
        self.note("Less", a.pod)
        return (-a.pod.priority, a.timestamp) < (-b.pod.priority, b.timestamp)

    def PreEnqueue(self, pod):
        self.note("PreEnqueue", pod)

    def PreFilter(self, state, pod, nodes):
        state["pods"] = 0
        self.note("PreFilter", pod)

    def AddPod(self, state, pod, other, node):
        state["pods"] += 1
        self.note("AddPod", pod, node.name)

    def RemovePod(self, state, pod, other, node):
        state["pods"] -= 1
        self.note("RemovePod", pod, node.name)

    def Filter(self, state, pod, node):
        self.note("Filter without victims" if state["pods"] < 0 else "Filter", pod, node.name)

    def PostFilter(self, state, pod, statuses):
        for node in self.handle.nodes():
            status = statuses.status(node)
            self.handle.note("PostFilter", pod, node.name, Status(status.code, status.message()))
        return Status.Unschedulable("nothing to do")

    def PreScore(self, state, pod, nodes):
        self.note("PreScore", pod)

    def Score(self, state, pod, node):
        self.note("Score", pod, node.name)
        return 3

    def NormalizeScore(self, state, pod, nodes, scores):
        scores[:] = [score + 4 for score in scores]
        self.note("NormalizeScore", pod)

    def Reserve(self, state, pod, node_name):
        self.note("Reserve", pod, node_name)
        return Status.Pending("no room in the book") if pod.label("reserve") == "fails" else None

    def Unreserve(self, state, pod, node_name):
        self.note("Unreserve", pod, node_name)

    def Permit(self, state, pod, node_name):
        self.note("Permit", pod, node_name)
        if pod.label("permit") != "waits":
            return None
        self.handle.post(2, self.allow_all)
        return Status.Wait(), 5

    def allow_all(self):
        for pod in self.handle.waiting_pods():
            self.note("Allow", pod)
            self.handle.allow(pod)

    def PreBindPreFlight(self, state, pod, node_name):
        self.note("PreBindPreFlight", pod, node_name)

    def PreBind(self, state, pod, node_name, done):
        self.note("PreBind", pod, node_name)
        self.handle.post(1, done)
        return LATER

    def Bind(self, state, pod, node_name, done):
        self.note("Bind", pod, node_name)
        self.handle.bind(pod, node_name, lambda error: done(Status.Error(error) if error else None))
        return LATER

    def PostBind(self, state, pod, node_name):
        self.note("PostBind", pod, node_name)
        if self.seen.get(pod.uid, 0) > 0:
            self.note("OnPod", pod, node_name)

    def SignPod(self, pod):
        self.note("SignPod", pod)
        return {"name": pod.name}

    def EventsToRegister(self):
        return [Event("Node", "Add", hint=self.hint)]

    def hint(self, pod, old, new):
        self.note("Hint", pod)
        return True

    def OnPod(self, old_pod, new_pod):
        uid = (new_pod or old_pod).uid
        self.seen[uid] = self.seen.get(uid, 0) + 1


def number_of(node):
    return int(node.name[5:])


class ByNode:
    filter_reads = "nodeObject"
    score_reads = "nodeObject"

    def Filter(self, state, pod, node):
        return Status() if number_of(node) % 2 == 0 else Status.Unschedulable("node(s) had an odd number")

    def Score(self, state, pod, node):
        return number_of(node) % 100

    def EventsToRegister(self):
        return []


schedsim_plugin.serve(Witness, ByNode)
