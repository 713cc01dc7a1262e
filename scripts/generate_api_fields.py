#!/usr/bin/env python3
"""Writes core/codec/objects/api_field_table.cc: the fields of all built-in kinds of Kubernetes.

Usage: generate_api_fields.py MODULES VERSION... > core/codec/objects/api_field_table.cc

MODULES is the folder k8s.io of Go's module cache, where `go mod download` puts the modules k8s.io/api and
k8s.io/apimachinery; VERSION is a version of both, such as 0.37.2, oldest first. The fields of all versions
are merged, so that a dump of any of these releases has known fields only. A kind is left out in a version
of its API that no longer is served in the oldest release.

Only names, numbers and types are taken: of each field the JSON name, whether it leads to another type, and how it
stands in protobuf (see api_fields.h for the notation).
"""

import collections
import os
import re
import sys

# Groups whose objects are requests and answers: no cluster keeps them, so no dump has them.
SKIPPED_GROUPS = {"admission", "apidiscovery", "authentication", "authorization", "imagepolicy", "testdata"}
SKIPPED_KINDS = {"Binding", "Eviction", "PodStatusResult", "RangeAllocation", "Scale"}

# Structs with JSON of their own: what is below them is free, or they are no maps in JSON.
LEAVES = {"Time", "MicroTime", "Duration", "FieldsV1", "Quantity", "IntOrString", "RawExtension", "JSON"}

# Their letters in the table, and those of Go's own types.
LETTERS = {"Time": "t", "MicroTime": "u", "Duration": "d", "FieldsV1": "f", "Quantity": "q", "IntOrString": "n",
           "RawExtension": "r", "JSON": "r", "string": "s", "bool": "b", "byte": "y"}

# A field of a struct: `name` is None where the fields of an embedded struct stand in its place; `number` is None
# where protobuf does not have it; `omits` says whether JSON leaves out what is empty, and `omits_zero` whether also
# a struct.
Field = collections.namedtuple("Field", "name go_type number omits omits_zero")
# What a field is: `target` is what it leads to, `proto` how it stands in protobuf, "" for nothing.
Look = collections.namedtuple("Look", "target proto")

# Kinds whose fields are not checked: their types lie in other modules.
FREE_KINDS = {
    "apiextensions.k8s.io/v1": ["CustomResourceDefinition"],
    "apiregistration.k8s.io/v1": ["APIService"],
}

# Of a string in the table, and the longest that still stands on the line of the one before.
WIDTH = 104

HEADER = """\
// Made by scripts/generate_api_fields.py of k8s.io/api and k8s.io/apimachinery
// {versions}; docs/upstream.md says how. Do not edit.
#include "core/codec/objects/api_fields.h"

namespace schedsim::codec {{

"""

FOOTER = """
}  // namespace schedsim::codec
"""


def source_files(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".go") and not name.endswith(("_test.go", ".pb.go")) and name != "doc.go":
            yield os.path.join(folder, name)


def strip_comments(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"^\s*//.*$", "", text, flags=re.M)


class Package:
    """The types of one Go package: structs as lists of fields, others as Go types."""

    def __init__(self, folder, path):
        self.path = path
        self.structs = {}
        self.named = {}
        self.imports = {}
        self.group = None
        self.removed = {}  # Kind: minor version of Kubernetes that no longer serves it.
        for file in source_files(folder):
            with open(file, encoding="utf-8") as source:
                text = source.read()
            if os.path.basename(file).startswith("zz_generated"):
                self.read_lifecycle(text)
            else:
                self.read(strip_comments(text))

    def read_lifecycle(self, text):
        pattern = r"func \(in \*(\w+)\) APILifecycleRemoved\(\) \(major, minor int\) \{\s*return 1, (\d+)"
        for kind, minor in re.findall(pattern, text):
            self.removed[kind] = int(minor)

    def read(self, text):
        group = re.search(r'GroupName\s*=\s*"([^"]*)"', text)
        if group:
            self.group = group.group(1)
        for block in re.findall(r"^import \((.*?)^\)", text, flags=re.S | re.M):
            for alias, path in re.findall(r'^\s*(\w+)?\s*"([^"]+)"', block, flags=re.M):
                self.imports[alias or path.rsplit("/", 1)[-1]] = path
        for alias, path in re.findall(r'^import (\w+)?\s*"([^"]+)"', text, flags=re.M):
            self.imports[alias or path.rsplit("/", 1)[-1]] = path
        for name, body in re.findall(r"^type (\w+) struct \{\n(.*?)^\}", text, flags=re.S | re.M):
            self.structs[name] = self.fields(body)
        for name, target in re.findall(r"^type (\w+) =? ?((?!struct|interface|func)[\w\[\]*.]+)\s*$", text,
                                       flags=re.M):
            self.named[name] = target

    @staticmethod
    def fields(body):
        fields = []
        for line in body.splitlines():
            found = re.match(r'\s*(?:(\w+)\s+)?([\w\[\]*.]+)\s+`.*?json:"([^",]*)([^"]*)"', line)
            if not found:
                continue
            _, go_type, name, options = found.groups()
            number = re.search(r'protobuf:"\w+,(\d+)', line)
            if name != "-":
                fields.append(Field(None if not name or "inline" in options else name, go_type,
                                    number and int(number.group(1)), "omit" in options, "omitzero" in options))
        return fields


class Release:
    """All packages of one version of the modules."""

    def __init__(self, modules, version):
        self.packages = {}
        api = os.path.join(modules, "api@v" + version)
        machinery = os.path.join(modules, "apimachinery@v" + version, "pkg")
        for group in sorted(os.listdir(api)):
            folder = os.path.join(api, group)
            if group in SKIPPED_GROUPS or not os.path.isdir(folder):
                continue
            for api_version in sorted(os.listdir(folder)):
                if re.fullmatch(r"v\d+\w*", api_version):
                    self.add(os.path.join(folder, api_version), f"k8s.io/api/{group}/{api_version}")
        for path in ("apis/meta/v1", "api/resource", "util/intstr", "runtime"):
            self.add(os.path.join(machinery, path), "k8s.io/apimachinery/pkg/" + path)

    def add(self, folder, path):
        self.packages[path] = Package(folder, path)

    def resolve(self, package, go_type):
        """What a Go type leads to: None for a leaf, else (package, struct, whether by keys of a map)."""
        by_key = False
        while True:
            if go_type.startswith("*"):
                go_type = go_type[1:]
            elif go_type.startswith("[]"):
                go_type = go_type[2:]
            elif go_type.startswith("map["):
                go_type = go_type[go_type.index("]") + 1:]
                by_key = True
            elif "." in go_type:
                alias, go_type = go_type.split(".", 1)
                package = self.packages.get(package.imports.get(alias, ""))
                if package is None:
                    return None
            elif go_type in LEAVES:
                return None
            elif go_type in package.structs:
                return (package.path, go_type, by_key)
            elif go_type in package.named:
                go_type = package.named[go_type]
            else:
                return None

    def proto(self, package, field):
        """How a field's values stand in protobuf: whether it is a list or a map, when JSON has it, and its letter."""
        go_type, around, is_pointer, letter = field.go_type, "", False, None
        while letter is None:
            if go_type.startswith("*"):
                is_pointer = is_pointer or not around
                go_type = go_type[1:]
            elif go_type == "[]byte":
                letter = "y"
            elif go_type.startswith("[]"):
                # A list below a map is a message with the items in it.
                around += "["
                go_type = go_type[2:]
            elif go_type.startswith("map["):
                around += "{"
                go_type = go_type[go_type.index("]") + 1:]
            elif "." in go_type:
                alias, go_type = go_type.split(".", 1)
                package = self.packages.get(package.imports.get(alias, ""))
                if package is None:
                    letter = "s"  # Such as types.UID.
            elif go_type in LETTERS:
                letter = LETTERS[go_type]
            elif go_type in package.structs:
                letter = "m"
            elif go_type in package.named:
                go_type = package.named[go_type]
            else:
                letter = "i"
        is_struct = letter in "mtuq" and not around and not is_pointer
        always = not field.omits or (is_struct and not field.omits_zero)
        presence = "?" if is_pointer else "!" if always else ""
        return around + presence + letter

    def flat_fields(self, path, name):
        """The fields of a struct as {json name: what it is}, embedded structs written out."""
        package = self.packages[path]
        out = {}
        for field in package.structs[name]:
            target = self.resolve(package, field.go_type)
            if field.name is not None:
                proto = "" if field.number is None else f"{field.number}{self.proto(package, field)}"
                out[field.name] = Look(target, proto)
            elif target is not None:
                for inner, look in self.flat_fields(target[0], target[1]).items():
                    proto = look.proto and field.number and f"{field.number}.{look.proto}"
                    out[inner] = Look(look.target, proto or "")
        return out

    def kinds(self, oldest_minor):
        """(apiVersion, kind, path) of all kinds that are served in the oldest release."""
        for path, package in self.packages.items():
            if not path.startswith("k8s.io/api/"):
                continue
            api_version = path.rsplit("/", 1)[1]
            if package.group:
                api_version = package.group + "/" + api_version
            for name, fields in package.structs.items():
                inline = [field.go_type for field in fields if field.name is None]
                metadata = [field.go_type for field in fields if field.name == "metadata"]
                if "metav1.TypeMeta" not in inline or metadata != ["metav1.ObjectMeta"]:
                    continue
                if name not in SKIPPED_KINDS and package.removed.get(name, 1000) > oldest_minor:
                    yield api_version, name, path


class Table:
    """The merged types: `types` has the fields of each (package, struct) that a kind leads to."""

    def __init__(self):
        self.types = {}
        self.kinds = {}

    def merge(self, release, oldest_minor):
        for api_version, name, path in release.kinds(oldest_minor):
            self.kinds.setdefault(api_version, {})[name] = (path, name)
            rest = [(path, name)]
            seen = set(rest)
            while rest:
                key = rest.pop()
                fields = release.flat_fields(*key)
                self.types.setdefault(key, {}).update(fields)
                for target, _ in fields.values():
                    if target is not None and target[:2] not in seen:
                        seen.add(target[:2])
                        rest.append(target[:2])

    def classes(self):
        """A number for each type; types of one name that look the same all the way down share it."""
        number = {key: key[1] for key in self.types}
        while True:
            looks = {}
            for key, fields in sorted(self.types.items()):
                look = tuple(sorted((name, look.proto, look.target and (number[look.target[:2]], look.target[2]))
                                    for name, look in fields.items()))
                looks.setdefault((number[key], key[1], str(look)), []).append(key)
            refined = {key: index for index, keys in enumerate(looks.values()) for key in keys}
            if len(set(refined.values())) == len(set(number.values())):
                return refined
            number = refined

    def names(self):
        """The name of each type in the table: that of the struct, with its package where two differ."""
        number = self.classes()
        by_name = {}
        for key in sorted(self.types, key=lambda key: ("core/v1" not in key[0], key[0].endswith("1"), key)):
            by_name.setdefault(key[1], [])
            if number[key] not in by_name[key[1]]:
                by_name[key[1]].append(number[key])
        out = {}
        for key in self.types:
            place = by_name[key[1]].index(number[key])
            out[key] = key[1] if place == 0 else f"{key[1]}+{place}"
        return out


def quoted_lines(rows, indent):
    """Rows of words as adjacent string literals: a row ends in `;` and starts on a line of its own where it
    does not fit behind the one before."""
    lines = [""]
    for row in rows:
        text = " ".join(row) + ";"
        for word in ([text] if len(lines[-1]) + 1 + len(text) <= WIDTH - len(indent) else [None] + text.split()):
            if word is None or (lines[-1] and len(lines[-1]) + 1 + len(word) > WIDTH - len(indent)):
                lines.append("")
            if word is not None:
                lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(f'{indent}"{line}{"" if line.endswith(";") else " "}"' for line in lines if line)


def print_table(table, versions):
    names = table.names()
    kinds = {version: {kind: names[key] for kind, key in found.items()} for version, found in table.kinds.items()}
    for version, free in FREE_KINDS.items():
        kinds[version] = {kind: "" for kind in free}
    print(HEADER.format(versions=", ".join(versions)), end="")
    print("const char kApiKinds[] =")
    rows = []
    for version, found in sorted(kinds.items(), key=lambda item: ("/" in item[0], item[0])):
        rows.append([version] + [kind if found[kind] == kind else f"{kind}:{found[kind]}" for kind in sorted(found)])
    print(quoted_lines(rows, "    ") + ";\n")
    rows = []
    for name, fields in sorted({names[key]: fields for key, fields in table.types.items()}.items()):
        words = []
        for field in sorted(fields):
            target, proto = fields[field]
            suffix = "" if target is None else (":*" if target[2] else ":") + names[target[:2]]
            words.append(field + (proto and "#" + proto) + suffix)
        rows.append([name] + words)
    print("const char kApiTypes[] =")
    print(quoted_lines(rows, "    ") + ";")
    print(FOOTER, end="")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    modules, versions = sys.argv[1], sys.argv[2:]
    table = Table()
    for version in versions:
        table.merge(Release(modules, version), int(versions[0].split(".")[1]))
    print_table(table, versions)


main()
