#!/usr/bin/env python3
"""Makes one large cluster in the formats in which people keep them: snapshot.py FOLDER [PODS].

Writes FOLDER/etcd.db, get.json and get.yaml with PODS (default 100,000) running pods on the six nodes of the recorded cluster
tests/tools/kwok-real/formats: its pods again and again, with names and uids of their own. `schedsim run -f FILE` says how
long it took to read one, and how much memory.
"""
import gzip
import hashlib
import json
import os
import struct
import sys

RECORDED = os.path.join(os.path.dirname(__file__), "../tests/tools/kwok-real/formats/1-history")
PAGE = 4096
LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def recorded(name):
    with gzip.open(os.path.join(RECORDED, name)) as file:
        return file.read()


def elements(page):
    """The flags, keys and values (or pages) of a page of bbolt."""
    flags, count = struct.unpack("<HH", page[8:12])
    for i in range(count):
        at = 16 + 16 * i
        if flags == 1:
            yield None, None, struct.unpack("<Q", page[at + 8:at + 16])[0]
            continue
        is_bucket, place, key_bytes, value_bytes = struct.unpack("<IIII", page[at:at + 16])
        key = at + place
        yield is_bucket, page[key:key + key_bytes], page[key + key_bytes:key + key_bytes + value_bytes]


def leaves(database, page):
    for flags, key, value in elements(database[page * PAGE:]):
        if flags is None:
            yield from leaves(database, value)
        else:
            yield key, value


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def fields(message):
    """The last value of each field, by number."""
    at, found = 0, {}

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = number()
        value = number()
        if tag & 7 == 2:
            at += value
            value = message[at - value:at]
        found[tag >> 3] = value
    return found


def stored_objects():
    """What is stored last, by key."""
    database = recorded("etcd.db.gz")
    metas = [database[page + 16:page + 80] for page in (0, PAGE)]
    newest = max(metas, key=lambda meta: struct.unpack("<Q", meta[48:56])[0])
    buckets = dict(leaves(database, struct.unpack("<Q", newest[16:24])[0]))
    objects = {}
    for revision, value in leaves(database, struct.unpack("<Q", buckets[b"key"][:8])[0]):
        pair = fields(value)
        if len(revision) == 18:
            objects.pop(pair[1], None)
        else:
            objects[pair[1]] = pair[5]
    return objects


def page_of(number, flags, rows):
    """`rows`: the head of an element without its place, which follows `head_at` bytes, and its bytes."""
    heads, body = b"", b""
    for i, (head, content) in enumerate(rows):
        heads += head(16 * (len(rows) - i) + len(body))
        body += content
    size = 16 + len(heads) + len(body)
    more = (size + PAGE - 1) // PAGE - 1
    page = struct.pack("<QHHI", number, flags, len(rows), more) + heads + body
    return page + bytes((more + 1) * PAGE - size)


def leaf(number, flags, pairs):
    def head(key, value):
        return lambda place: struct.pack("<IIII", flags, place, len(key), len(value))

    return page_of(number, 2, [(head(key, value), key + value) for key, value in pairs])


def fnv(content):
    hash_ = 0xcbf29ce484222325
    for byte in content:
        hash_ = (hash_ ^ byte) * 0x100000001b3 % 2**64
    return hash_


def write_database(path, objects):
    pages, firsts, next_page = [], [], 2
    for start in range(0, len(objects), 50):
        pairs = []
        for revision, (key, value) in enumerate(objects[start:start + 50], start + 2):
            pair = (b"\x0a" + varint(len(key)) + key + b"\x10" + varint(revision) + b"\x18" + varint(revision) +
                    b"\x20\x01\x2a" + varint(len(value)) + value)
            pairs.append((struct.pack(">Q", revision) + b"_" + bytes(8), pair))
        pages.append(leaf(next_page, 0, pairs))
        firsts.append((pairs[0][0], next_page))
        next_page += len(pages[-1]) // PAGE

    def branch_head(key, page):
        return lambda place: struct.pack("<IIQ", place, len(key), page)

    branch = next_page
    pages.append(page_of(branch, 1, [(branch_head(key, page), key) for key, page in firsts]))
    root = branch + len(pages[-1]) // PAGE
    pages.append(leaf(root, 1, [(b"key", struct.pack("<QQ", branch, 0))]))
    content = b""
    for page in (0, 1):
        meta = struct.pack("<IIIIQQQQQ", 0xED0CDAED, 2, PAGE, 0, root, 0, 2**64 - 1, root + 1, page)
        content += struct.pack("<QHHI", page, 4, 0, 0) + meta + struct.pack("<Q", fnv(meta))
        content += bytes(PAGE * (page + 1) - len(content))
    content += b"".join(pages)
    with open(path, "wb") as file:
        file.write(content + hashlib.sha256(content).digest())


def yaml_lines(value, indent):
    """As kubectl writes it, but with all texts in quotes that need not be plain."""
    pad = " " * indent
    if isinstance(value, dict):
        for key, item in sorted(value.items()):
            if isinstance(item, (dict, list)) and item:
                yield f"{pad}{json.dumps(key) if ':' in key else key}:"
                yield from yaml_lines(item, indent + (2 if isinstance(item, dict) else 0))
            else:
                yield f"{pad}{json.dumps(key) if ':' in key else key}: {yaml_scalar(item)}"
    else:
        for item in value:
            if isinstance(item, (dict, list)) and item:
                lines = list(yaml_lines(item, indent + 2))
                yield pad + "- " + lines[0][indent + 2:]
                yield from lines[1:]
            else:
                yield f"{pad}- {yaml_scalar(item)}"


def yaml_scalar(value):
    is_plain = isinstance(value, str) and value[:1].isalpha() and value.replace("-", "").isalnum() and len(value) > 5
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def main():
    folder = sys.argv[1]
    pod_count = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    stored = sorted(stored_objects().items())
    listed = json.loads(recorded("get.json.gz"))["items"]
    pods = {pod["metadata"]["name"]: pod for pod in listed if pod["kind"] == "Pod"}
    nodes = [node for node in listed if node["kind"] == "Node"]
    objects = [(key, value) for key, value in stored if b"/minions/" in key]
    originals = []
    for key, value in stored:
        pod = pods.get(key.decode().rsplit("/", 1)[-1])
        if b"/pods/" in key and pod is not None:
            originals.append((key, value, pod["metadata"]["name"], pod["metadata"]["uid"], json.dumps(pod)))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "get.json"), "w") as as_json, open(os.path.join(folder, "get.yaml"), "w") as as_yaml:
        as_json.write('{\n    "apiVersion": "v1",\n    "items": [')
        as_yaml.write("apiVersion: v1\nitems:\n")
        for i in range(-len(nodes), pod_count):
            if i < 0:
                item = nodes[i]
            else:
                key, value, name, uid, text = originals[i % len(originals)]
                suffix = "".join(LETTERS[i // 27**place % 27] for place in range(5))
                new_name, new_uid = name[:-5] + suffix, f"{i:08x}{uid[8:]}"
                new_key = key[:-len(name)] + new_name.encode()
                objects.append((new_key, value.replace(name.encode(), new_name.encode())
                                .replace(uid.encode(), new_uid.encode())))
                item = json.loads(text.replace(name, new_name).replace(uid, new_uid))
            lines = json.dumps(item, indent=4, sort_keys=True, ensure_ascii=False).replace("\n", "\n        ")
            as_json.write(("," if i > -len(nodes) else "") + "\n        " + lines)
            as_yaml.write("\n".join(yaml_lines([item], 0)) + "\n")
        as_json.write('\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')
        as_yaml.write('kind: List\nmetadata:\n  resourceVersion: ""\n')
    write_database(os.path.join(folder, "etcd.db"), objects)


main()
