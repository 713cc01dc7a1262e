#!/usr/bin/env python3
"""Measures what a plugin costs that scores nodes: plugin_cost.py SCHEDSIM PLUGIN [--runs N] [--most RATIO] [--isolate]

PLUGIN is the library of score_plugin.cc, which --isolate runs in a process of its own, score_plugin.py, or a guest of WebAssembly such as
score_guest.wat, which --wasm-engine runs. The workloads of shapes.py with 5,000 nodes run with the plugin and without it, in turns, with
many pods and with few: the difference is what the attempts take. The least time of each counts, since a busy machine only adds. Times are
those of the processor, with that of the plugin's process. Prints a table in Markdown; exit code 1: a ratio is above the most that is
allowed. "nodes a second" are those that an attempt may score divided by what the plugin adds to it: a plugin whose answers are kept is
asked of fewer.
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
SCORED = 500  # Nodes that an attempt scores.
WORKLOADS = [("basic", 20000), ("spread", 8000), ("mixed", 8000)]


def configuration(guest):
    """With the plugin; guest: the path of a guest, or None."""
    profile = {"schedulerName": "default-scheduler", "plugins": {"score": {"enabled": [{"name": "TeamNodes"}]}}}
    if guest:
        profile["pluginConfig"] = [{"name": "TeamNodes", "args": {"guestURL": "file://" + guest}}]
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, capture_output=True, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def write_objects(folder, shape, pods):
    """The path of the workload's objects: configurations that are read beside them may name guests."""
    case = json.load(open(write_case(folder, (shape, NODES, pods, FIRST), False)))
    path = os.path.join(folder, f"{pods}.json")
    json.dump({"apiVersion": "v1", "kind": "List", "items": case["objects"]}, open(path, "w"))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schedsim")
    parser.add_argument("plugin")
    parser.add_argument("--isolate", action="store_true")
    parser.add_argument("--wasm-engine", help="what runs a guest")
    parser.add_argument("--pods", type=int, help="at most so many")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--most", type=float, default=float("inf"))
    options = parser.parse_args()
    is_guest = options.plugin.endswith((".wat", ".wasm"))
    more = [] if is_guest else ["--plugin", options.plugin]
    more += ["--isolate"] if options.isolate else []
    more += ["--wasm-engine", options.wasm_engine] if options.wasm_engine else []
    print("| workload | without | with the plugin | ratio | nodes a second |\n| --- | --- | --- | --- | --- |")
    worst = 0.0
    for shape, pods in WORKLOADS:
        pods = min(pods, options.pods or pods)
        with tempfile.TemporaryDirectory() as folder:
            guest = os.path.abspath(options.plugin) if is_guest else None
            if options.plugin.endswith(".wat"):
                guest = os.path.join(folder, "guest.wasm")
                subprocess.run(["wat2wasm", options.plugin, "-o", guest], check=True)
            config = os.path.join(folder, "scheduler.json")
            json.dump(configuration(guest), open(config, "w"))
            commands = [[options.schedsim, "run", "-f", write_objects(folder, shape, count)] + plugin
                        for count in (FEW, pods) for plugin in ([], ["--config", config] + more)]
            least = [float("inf")] * len(commands)
            for _ in range(options.runs):
                for i, command in enumerate(commands):
                    least[i] = min(least[i], user_seconds(command))
            without, scored = ((least[2 + i] - least[i]) / (pods - FEW) * 1e6 for i in range(2))
        worst = max(worst, scored / without)
        rate = SCORED / (scored - without) * 1e6 if scored > without else float("inf")
        print(f"| {shape} | {without:.1f} us | {scored:.1f} us | {scored / without:.2f} | {rate:,.0f} |", flush=True)
    return 1 if worst > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
