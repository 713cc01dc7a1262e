#!/usr/bin/env python3
"""Measures what a plugin costs that scores nodes: plugin_cost.py SCHEDSIM PLUGIN [--runs N] [--most RATIO] [--isolate]

PLUGIN is the library of score_plugin.cc, which --isolate runs in a process of its own, or score_plugin.py. The workloads of shapes.py
with 5,000 nodes run with the plugin and without it, in turns, with many pods and with few: the difference is what the attempts take. The
least time of each counts, since a busy machine only adds. Times are those of the processor, with that of the plugin's process. Prints a
table in Markdown; exit code 1: a ratio is above the most that is allowed.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

from measure_shapes import write_case

NODES, FIRST, FEW = 5000, 1000, 10
WORKLOADS = [("basic", 20000), ("spread", 8000), ("mixed", 8000)]
CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
          "profiles": [{"schedulerName": "default-scheduler", "plugins": {"score": {"enabled": [{"name": "TeamNodes"}]}}}]}


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, capture_output=True, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def write_cases(folder, shape, pods):
    """Paths of the case without and with the plugin."""
    case = json.load(open(write_case(folder, (shape, NODES, pods, FIRST), False)))
    paths = []
    for name, config in (("without", None), ("scored", CONFIG)):
        paths.append(os.path.join(folder, f"{name}-{pods}.json"))
        if config is not None:
            case["config"] = config
        json.dump(case, open(paths[-1], "w"))
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schedsim")
    parser.add_argument("plugin")
    parser.add_argument("--isolate", action="store_true")
    parser.add_argument("--pods", type=int, help="at most so many")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--most", type=float, default=float("inf"))
    options = parser.parse_args()
    print("| workload | without | with the plugin | ratio |\n| --- | --- | --- | --- |")
    worst = 0.0
    for shape, pods in WORKLOADS:
        pods = min(pods, options.pods or pods)
        with tempfile.TemporaryDirectory() as folder:
            paths = [path for count in (FEW, pods) for path in write_cases(folder, shape, count)]
            least = [float("inf")] * len(paths)
            for _ in range(options.runs):
                for i, path in enumerate(paths):
                    command = [options.schedsim, "run", path, "--plugin", options.plugin]
                    command += ["--isolate"] if options.isolate else []
                    least[i] = min(least[i], user_seconds(command))
            without, scored = ((least[2 + i] - least[i]) / (pods - FEW) * 1e6 for i in range(2))
        worst = max(worst, scored / without)
        print(f"| {shape} | {without:.1f} us | {scored:.1f} us | {scored / without:.2f} |", flush=True)
    return 1 if worst > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
