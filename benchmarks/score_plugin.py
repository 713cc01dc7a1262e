"""The plugin of score_plugin.cc in Python. It is asked each time: what its answers read is not said."""
import schedsim_plugin


class TeamNodes:
    def Score(self, state, pod, node):
        return 100 if "team" in node.labels else 0

    def SignPod(self, pod):
        return None


schedsim_plugin.serve(TeamNodes)
