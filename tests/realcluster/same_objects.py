#!/usr/bin/env python3
"""Compares two lists of objects, field by field.

    same_objects.py [OPTION]... A.json B.json

Prints what differs, and ends with 1 then. Versions (metadata.resourceVersion) don't count, since k8s files have none.
  --kinds-of-second   objects of A of kinds that B lacks don't count
  --kinds KIND,...    only objects of these kinds count
  --not-kinds KIND,.. objects of these don't count
  --versions          versions count where the object of A has one
  --added             B is a cluster that was given A: objects, fields and items of lists that only B has don't count
  --restored          it was given A by creation: uids, times, generations, managed fields and statuses are B's own
"""
import json
import re
import sys
from fractions import Fraction

# What a cluster gives to an object that is created.
OWN = ["metadata.uid", "metadata.creationTimestamp", "metadata.generation", "metadata.managedFields", "metadata.deletionTimestamp",
       "metadata.deletionGracePeriodSeconds"]

CLUSTERS_OWN = ["kube-root-ca.crt", "extension-apiserver-authentication", "kube-apiserver-legacy-service-account-token-tracking"]


def without(obj, path):
    parts = path.split(".")
    for part in parts[:-1]:
        obj = obj.get(part) if isinstance(obj, dict) else None
    if isinstance(obj, dict):
        obj.pop(parts[-1], None)


def objects(path, options):
    found = {}
    for item in json.load(open(path))["items"]:
        meta = item.get("metadata", {})
        if options["kinds"] and item["kind"] not in options["kinds"] or item["kind"] in options["not-kinds"]:
            continue
        if (options["added"] and item["kind"] == "Lease" and meta["name"].startswith("apiserver-")
                or options["restored"] and item["kind"] == "ConfigMap" and meta["name"] in CLUSTERS_OWN):
            continue
        # Where the API server itself is.
        if options["added"] and item["kind"] in ("Endpoints", "EndpointSlice") and meta.get("name") == "kubernetes":
            continue
        # The same object may be served in another version than it came in.
        group = item["apiVersion"].split("/")[0] if "/" in item["apiVersion"] else ""
        key = (group, item["kind"], meta.get("namespace", ""), meta.get("name", ""))
        if options["restored"]:
            for field in OWN:
                without(item, field)
            if item["kind"] != "Node":
                item.pop("status", None)
            for owner in meta.get("ownerReferences", []):
                owner.pop("uid", None)
        found[key] = item
    return found


def drop_version(first, second, options):
    if not options["versions"] or "resourceVersion" not in first.get("metadata", {}):
        without(first, "metadata.resourceVersion")
        without(second, "metadata.resourceVersion")


def partner(item, others):
    """The item of a list that stands for this one."""
    for key in ("name", "containerPort", "key", "type", "uid", "ip", "topologyKey"):
        if isinstance(item, dict) and key in item:
            for other in others:
                if isinstance(other, dict) and all(other.get(k) == item.get(k) for k in (key, "effect", "protocol") if k in item):
                    return other
    return item if item in others else None


QUANTITY = re.compile(r"([+-]?[0-9.]+)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]+)?$")
UNITS = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
         "E": 10**18, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}


def amount(value):
    match = QUANTITY.match(str(value))
    if isinstance(value, bool) or not match:
        return None
    unit = match[2] or ""
    return Fraction(match[1]) * (Fraction("1" + unit) if unit[:1] in "eE" and unit not in UNITS else UNITS.get(unit, 1))


def same_to_server(a, b):
    """Whether an API server that was given a shows b: it drops fractions of seconds, and writes amounts in its own way."""
    if isinstance(a, str) and isinstance(b, str) and re.match(r"\d{4}-\d\d-\d\dT", a):
        return re.sub(r"\.\d+Z$", "Z", a) == b
    return amount(a) is not None and amount(a) == amount(b)


def difference(a, b, added):
    """The first difference, as text."""
    stack = [(a, b, "")]
    while stack:
        a, b, path = stack.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            for key in sorted(set(a) | set(b)):
                # Null and nothing are the same to the API server, and so are empty maps and lists.
                if key in b and key not in a and not added:
                    return f"{path}.{key}: only in the second"
                if key in a and key not in b:
                    if added and a[key] in (None, {}, [], "", 0):
                        continue
                    return f"{path}.{key}: only in the first"
                if key in a:
                    stack.append((a[key], b[key], f"{path}.{key}"))
        elif isinstance(a, list) and isinstance(b, list):
            if not added and len(a) != len(b):
                return f"{path}: {len(a)} and {len(b)} items"
            for i, item in enumerate(a):
                other = b[i] if len(a) == len(b) else partner(item, b)
                if other is None and item is not None:
                    return f"{path}[{i}]: only in the first: {json.dumps(item)[:200]}"
                stack.append((item, other, f"{path}[{i}]"))
        elif (a != b or type(a) is not type(b)) and not (added and same_to_server(a, b)):
            return f"{path}: {json.dumps(a)[:200]} and {json.dumps(b)[:200]}"
    return ""


def main():
    args = sys.argv[1:]
    options = {"kinds": [], "not-kinds": [], "kinds-of-second": False, "versions": False, "added": False, "restored": False}
    while args and args[0].startswith("--"):
        name = args.pop(0)[2:]
        if name not in options:
            sys.exit(f"same_objects.py: --{name}: unknown option")
        options[name] = args.pop(0).split(",") if name in ("kinds", "not-kinds") else True
    if len(args) != 2:
        sys.exit(__doc__)
    first, second = (objects(path, options) for path in args)
    if options["kinds-of-second"]:
        kinds = {key[:2] for key in second}
        first = {key: item for key, item in first.items() if key[:2] in kinds}
    found = []
    for key in sorted(set(first) | set(second)):
        if key not in first:
            what = "" if options["added"] else "only in the second"
        elif options["added"] and first[key]["apiVersion"] != second.get(key, first[key])["apiVersion"]:
            what = ""  # The server shows it in another version.
        else:
            drop_version(first[key], second.get(key, {}), options)
            what = "only in the first" if key not in second else difference(first[key], second[key], options["added"])
        if what:
            found.append(f"  {' '.join(part for part in key if part)}: {what}")
    for line in found[:10]:
        print(line)
    if found:
        print(f"  {len(found)} of {len(first)} objects differ")
    else:
        print(f"  {len(first)} objects, all the same")
    return 1 if found else 0


sys.exit(main())
