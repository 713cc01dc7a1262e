#!/usr/bin/env python3
"""Asks a real API server what it says of the objects in tests/sim/cluster/admission/validation.

  tests/realcluster/validation.py KUBECONFIG [--write] [FILE...]

Each row's object is created without being stored; one that is to be updated is stored, updated without that
being stored, and deleted. Prints the rows of which the server says something else than the file, and ends
with 1 if there is one. --write puts what it says into the files. Needs PyYAML. Without a FILE, all of the folder.
"""
import json
import pathlib
import re
import ssl
import sys
import urllib.error
import urllib.request

import yaml

FOLDER = pathlib.Path(__file__).parents[1] / "sim/cluster/admission/validation"
# Uids and the like, which no table can have.
VARIABLE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


# What differs between two specs, as Go prints it.
DIFF = re.compile(r"\n@@.*?(?=\n, |\Z)", re.S)

# A whole template.
STRUCT = re.compile(r"Invalid value: [{\[].{500,}: field")


def merge(target, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


class Server:
    def __init__(self, kubeconfig):
        config = yaml.safe_load(open(kubeconfig))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.url, self.token = cluster["server"], user["token"]
        # The certificate is the server's own.
        self.context = ssl._create_unverified_context()

    def call(self, method, path, body=None, content_type="application/json"):
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("Authorization", "Bearer " + self.token)
        request.add_header("Content-Type", content_type)
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data, context=self.context) as answer:
                json.load(answer)
                return ""
        except urllib.error.HTTPError as error:
            return json.load(error)["message"]

    def resources(self):
        """Where objects of a kind are: (apiVersion, kind) to the plural."""
        found = {}
        for version in ["v1", "apps/v1", "batch/v1", "node.k8s.io/v1", "policy/v1", "scheduling.k8s.io/v1",
                        "storage.k8s.io/v1"]:
            path = f"/{'apis' if '/' in version else 'api'}/{version}"
            request = urllib.request.Request(self.url + path)
            request.add_header("Authorization", "Bearer " + self.token)
            with urllib.request.urlopen(request, context=self.context) as answer:
                for resource in json.load(answer)["resources"]:
                    if "/" not in resource["name"]:
                        found[version, resource["kind"]] = (path, resource)
        return found


def ask(server, resources, document, row):
    made = merge(document["base"], row.get("change", {}))
    path, resource = resources[made["apiVersion"], made["kind"]]
    if resource["namespaced"]:
        path += "/namespaces/" + made["metadata"]["namespace"]
    path += "/" + resource["name"]
    if "update" not in row:
        return server.call("POST", path + "?dryRun=All&fieldValidation=Ignore", made)
    message = server.call("POST", path, made)
    if message:
        return message
    path += "/" + made["metadata"]["name"]
    message = server.call("PATCH", path + "?dryRun=All", row["update"], "application/merge-patch+json")
    options = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
    finalizers = {"metadata": {"finalizers": None}}
    deleted = server.call("DELETE", path, options)
    server.call("PATCH", path, finalizers, "application/merge-patch+json")
    return message or deleted


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    writes = "--write" in sys.argv
    server = Server(arguments[0])
    resources = server.resources()
    files = [pathlib.Path(a) for a in arguments[1:]] or sorted(FOLDER.glob("*.yaml"))
    different = 0
    for file in files:
        text = file.read_text()
        messages = []
        for document in yaml.safe_load_all(text):
            for row in document["rows"]:
                message = DIFF.sub("", VARIABLE.sub("UID", ask(server, resources, document, row)))
                message = STRUCT.sub("Invalid value: STRUCT: field", message.replace("\n", ""))
                if message != row["message"]:
                    different += 1
                    if not writes:
                        print(f"{file.name}: {document['base']['kind']}: {row['name']}\n  {row['message']}\n  {message}")
                messages.append(message)
        print(f"{file.name}: {len(messages)} rows")
        if writes:
            texts = iter(messages)
            quoted = lambda _: "  message: " + "'" + next(texts).replace("'", "''").replace("\n", "\\n") + "'"
            file.write_text(re.sub(r"^  message: .*$", quoted, text, flags=re.M))
    print(f"{different} rows differ")
    return 1 if different and not writes else 0


if __name__ == "__main__":
    sys.exit(main())
