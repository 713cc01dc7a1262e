#!/usr/bin/env python3
"""Replays recordings of real clusters, and compares their ends with what kubectl saw there.

    tests/realcluster/recordings.py [--program PATH] FOLDER...

Each FOLDER has one folder a cluster: record.etcd.yaml, record.export.yaml or audit.log (also .gz, .xz), and beside
them N-label/get.json of the last snapshot. For each of the files this prints how many of the recorded bindings are
in the best set, and in what the end differs from the last snapshot. Exit codes: 0 all ends agree, 1 some do not,
2 something could not be run; 0 with a word where there is nothing to compare.
"""

import argparse
import glob
import gzip
import json
import lzma
import os
import subprocess
import sys
import time


def read(path):
    opener = gzip.open if path.endswith(".gz") else lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return file.read()


def find(folder, name):
    """The file of this name, in whatever archive; None without one."""
    for ending in ("", ".gz", ".xz"):
        if os.path.exists(os.path.join(folder, name + ending)):
            return os.path.join(folder, name + ending)
    return None


def last_snapshot(folder):
    # A restored cluster is another one.
    names = [path for path in sorted(glob.glob(os.path.join(folder, "[0-9]-*"))) if find(path, "get.json")
             and "restored" not in path]
    return find(names[-1], "get.json") if names else None


def key_of(item):
    metadata = item["metadata"]
    return (item["kind"], metadata.get("namespace", ""), metadata["name"])


def facts_of(item):
    """What is compared of an object: which one it is, and for pods where it is and how."""
    facts = {"uid": item["metadata"].get("uid")}
    if item["kind"] == "Pod":
        facts["node"] = item["spec"].get("nodeName", "")
        facts["phase"] = item.get("status", {}).get("phase")
        facts["ends"] = "deletionTimestamp" in item["metadata"]
        facts["nominated"] = item.get("status", {}).get("nominatedNodeName", "")
    if item["kind"] == "Node":
        facts["taints"] = [(taint["key"], taint["effect"]) for taint in item["spec"].get("taints", [])]
        facts["unschedulable"] = item["spec"].get("unschedulable", False)
    if item["kind"] in ("Deployment", "ReplicaSet", "StatefulSet"):
        facts["ready"] = item.get("status", {}).get("readyReplicas", 0)
    if item["kind"] == "PersistentVolumeClaim":
        facts["volume"] = item["spec"].get("volumeName", "")
    return facts


def differences(ours, real, kinds):
    lines = []
    for key in sorted(set(ours) | set(real)):
        if key[0] not in kinds:
            continue
        label = "%s %s/%s" % key
        if key not in ours:
            lines.append(label + ": only in the cluster")
        elif key not in real:
            lines.append(label + ": only in the recording")
        elif ours[key] != real[key]:
            for field, value in real[key].items():
                if ours[key].get(field) != value:
                    lines.append("%s: %s is %r in the recording, %r in the cluster" %
                                 (label, field, ours[key].get(field), value))
    return lines


def run(program, path, output):
    start = time.time()
    done = subprocess.run([program, "run", path, "--follow", "--output", output], capture_output=True, text=True,
                          timeout=600)
    return done, time.time() - start


def compare(program, path, snapshot, is_audit):
    report, seconds = run(program, path, "json")
    if report.returncode != 0:
        print("%s: %s" % (path, report.stderr.strip()))
        return 2
    result = json.loads(report.stdout)
    bindings = result["bindings"]
    best = bindings["onlyNode"] + bindings["best"]
    print("%s: %.1f s, %d changes, %d bindings: %d best (%d the only node), %d other window, %d other order, %d burst, %d unknown; "
          "%d contradictions" % (path, seconds, result["changes"], bindings["all"], best, bindings["onlyNode"],
                                 bindings["window"], bindings["order"], bindings["burst"], bindings["unknown"],
                                 len(result["contradictions"])))
    for odd in result["notBest"]:
        if odd["cause"] == "unknown":
            print("    %s on %s, score %s, best %d: %s %s" % (odd["pod"], odd["node"], odd["score"], odd["bestScore"],
                                                        " ".join(odd["bestNodes"][:3]), odd["whyNot"]))
    if snapshot is None:
        return 0
    objects, _ = run(program, path, "objects")
    ours = {key_of(item): facts_of(item) for item in json.loads(objects.stdout)["items"]}
    items = json.loads(read(snapshot))["items"]
    real = {key_of(item): facts_of(item) for item in items}
    kinds = {"Node", "Pod"} if is_audit else {item["kind"] for item in items}
    if is_audit:
        # The log does not say which uid a pod without a name got, nor what kubelets add.
        for facts in list(ours.values()) + list(real.values()):
            facts.pop("uid", None)
    lines = differences(ours, real, kinds)
    for line in lines[:8]:
        print("    " + line)
    if len(lines) > 8:
        print("    and %d more" % (len(lines) - 8))
    return 1 if lines else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--program", default=os.path.join(root, "build/dev/tools/schedsim"))
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    worst = 0
    count = 0
    for folder in options.folders:
        for cluster in sorted(glob.glob(os.path.join(folder, "*/"))):
            snapshot = last_snapshot(cluster)
            for name in ("record.etcd.yaml", "record.export.yaml", "audit.log"):
                path = find(cluster, name)
                if path is None:
                    continue
                count += 1
                worst = max(worst, compare(options.program, path, snapshot, name == "audit.log"))
    if count == 0:
        print("skipped: no recordings here")
    return worst


if __name__ == "__main__":
    sys.exit(main())
