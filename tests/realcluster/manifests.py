#!/usr/bin/env python3
"""Gives manifests to a real API server and to schedsim, one object at a time, and compares what the two say.

  tests/realcluster/manifests.py KUBECONFIG SCHEDSIM FOLDER...

Of all .yaml, .yml and .json files below the folders, objects of kinds that the simulation reads are looked
at, but those that a cluster gave out. The server only pretends to create them. Prints the objects of which
one takes and the other refuses, or both refuse in different words; ends with 1 if there is one. Needs PyYAML.
"""
import concurrent.futures
import datetime
import hashlib
import json
import pathlib
import subprocess
import sys

import yaml

import validation

KINDS = {
    "CSIDriver", "CSINode", "CronJob", "DaemonSet", "Deployment", "Job", "LimitRange", "Namespace", "Node",
    "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodDisruptionBudget", "PriorityClass", "ReplicaSet",
    "ReplicationController", "ResourceQuota", "RuntimeClass", "StatefulSet", "StorageClass"
}
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
VERDICTS = ["both take", "both refuse", "other words", "only the server refuses", "only schedsim refuses"]


def objects_in(path):
    """The objects of a file that is YAML; none of a template of one."""
    try:
        documents = list(yaml.load_all(path.read_text(), Loader=LOADER))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError):
        return
    while documents:
        document = documents.pop(0)
        if not isinstance(document, dict):
            continue
        if isinstance(document.get("items"), list):
            documents = document["items"] + documents
        elif isinstance(document.get("kind"), str) and isinstance(document.get("metadata"), dict):
            yield document


def text_of(value):
    if isinstance(value, datetime.datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)


def collect(folders, resources):
    """JSON texts by what they hash to, each with its file."""
    found = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix not in (".yaml", ".yml", ".json") or not path.is_file():
                continue
            for document in objects_in(path):
                known = (document.get("apiVersion"), document["kind"]) in resources
                came_from_cluster = {"uid", "resourceVersion"} & document["metadata"].keys()
                if document["kind"] not in KINDS or not known or came_from_cluster:
                    continue
                text = json.dumps(document, default=text_of)
                found.setdefault(hashlib.sha256(text.encode()).hexdigest(), (path, text))
    return list(found.values())


def ask_server(server, resources, made, text):
    """What the server says; `made` are paths of objects that are there by now."""
    document = json.loads(text)
    path, resource = resources[document["apiVersion"], document["kind"]]

    def make(where, kind, name):
        if (where, name) not in made:
            made.add((where, name))
            server.call("POST", where, {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}})

    if resource["namespaced"]:
        space = document["metadata"].get("namespace") or "default"
        make("/api/v1/namespaces", "Namespace", space)
        spec = document.get("spec") or {}
        if document["kind"] == "Pod" and isinstance(spec, dict):
            account = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
            make(f"/api/v1/namespaces/{space}/serviceaccounts", "ServiceAccount", account)
        path += "/namespaces/" + space
    return server.call("POST", f"{path}/{resource['name']}?dryRun=All&fieldValidation=Ignore", document)


def ask_schedsim(program, text):
    """The refusal; "" where it takes the object."""
    result = subprocess.run([program, "run", "-f", "-", "--until", "1ms", "--output", "json"], input=text,
                            capture_output=True, text=True, check=False)
    if result.returncode > 1:
        return result.stderr.strip().splitlines()[-1]
    report = json.loads(result.stdout)
    refused = [pod["message"] for pod in report["pods"] if pod["status"] == "Refused"]
    return refused[0] if refused else ""


def main():
    kubeconfig, program, *folders = sys.argv[1:]
    server = validation.Server(kubeconfig)
    resources = server.resources()
    found = collect(folders, resources)
    made = set()
    counts = dict.fromkeys(VERDICTS, 0)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ours = pool.map(lambda entry: ask_schedsim(program, entry[1]), found)
        for (path, text), said in zip(found, ours):
            real = ask_server(server, resources, made, text)
            if "already exists" in real:
                real = ""
            if not real or not said:
                verdict = VERDICTS[3] if real else VERDICTS[4] if said else VERDICTS[0]
            else:
                verdict = VERDICTS[1] if real in said else VERDICTS[2]
            counts[verdict] += 1
            if verdict not in VERDICTS[:2]:
                print(f"{path}: {verdict}\n  real: {real}\n  ours: {said}")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 0 if counts[VERDICTS[0]] + counts[VERDICTS[1]] == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
