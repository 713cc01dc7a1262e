// Broken input never crashes: it reads, or it is an error that names the file.
#include <gtest/gtest.h>

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "core/base/rng.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/input.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

constexpr absl::string_view kYaml = R"(# a comment
apiVersion: v1
items:
- &first
  apiVersion: v1
  kind: Pod
  metadata: {name: "p\u00fc", labels: {n: 'y', "a b": "x\ty"}}
  spec:
    containers:
    - name: c
      image: "i:1"
      resources:
        requests: {cpu: 100m, memory: 1.5Gi}
      args:
      - |
        a
        b
      - >-
        c
        d
- <<: *first
  metadata:
    name: q
    creationTimestamp: "2026-01-02T03:04:05Z"
kind: List
---
apiVersion: v1
kind: Node
metadata: {name: node}
status: {allocatable: {cpu: 4, pods: 110}}
)";

constexpr absl::string_view kJson = R"({
 "apiVersion": "v1", "items": [
  {"metadata": {"name": "p\u00fc\n", "labels": {"a": "\ud83d\ude00"}}, "spec": {"containers": [
   {"name": "c", "resources": {"requests": {"cpu": 1.5e0, "memory": "1Gi"}}}], "priority": -5, "hostNetwork": true}},
  {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "q", "x": [null, [], {}, ""]}, "spec": {"containers": [{"name": "c"}]}}],
 "kind": "PodList"}
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
)";

void ExpectOkOrError(const std::string& text, absl::string_view file) {
  const ReadResult result = ReadObjects(text, file);
  if (result.status.ok()) {
    // What was read can be written and read again.
    for (const api::ObjectPtr& object : result.objects) {
      const std::string json = ObjectJson(*object);
      ASSERT_TRUE(ReadObjects(ObjectYaml(*object), "again.yaml").status.ok()) << json;
    }
    return;
  }
  ASSERT_TRUE(absl::StartsWith(result.status.message(), file)) << result.status;
  // In our words, or in those of the API server for what it would refuse as well.
  constexpr absl::string_view kWords[] = {"expected", "Required value", "Invalid value", "Unsupported value"};
  ASSERT_TRUE(absl::c_any_of(kWords, [&](absl::string_view words) {
    return absl::StrContains(result.status.message(), words);
  })) << result.status;
}

void Mutate(absl::string_view text, absl::string_view file) {
  ASSERT_TRUE(ReadObjects(text, file).status.ok()) << ReadObjects(text, file).status;
  for (size_t at = 0; at < text.size(); ++at) {
    ExpectOkOrError(std::string(text.substr(0, at)), file);
    ExpectOkOrError(std::string(text.substr(at)), file);
    // A few changes at each offset; neighbours get others.
    constexpr absl::string_view kBytes(
        "\0\t\n \"{]:-&*\x80\xff"
        "9",
        14);
    for (size_t i = 0; i < 4; ++i) {
      std::string changed(text);
      changed[at] = kBytes[(at + i * 5) % kBytes.size()];
      ExpectOkOrError(changed, file);
      changed[at] = static_cast<char>(text[at] ^ (1 << ((at + i * 2) % 8)));
      ExpectOkOrError(changed, file);
    }
    std::string shorter(text);
    shorter.erase(at, 3);
    ExpectOkOrError(shorter, file);
  }
}

TEST(FuzzTest, BrokenYamlIsAnError) { Mutate(kYaml, "f.yaml"); }

TEST(FuzzTest, BrokenJsonIsAnError) { Mutate(kJson, "f.json"); }

TEST(FuzzTest, NoiseIsAnErrorOrNothing) {
  Rng rng(1);
  constexpr absl::string_view kBytes = "{}[]:,\"'-?&*!|>%@`#~<0123456789abn \n\t\\eE+._\xc3\xbc\xff";
  for (int i = 0; i < 10'000; ++i) {
    std::string text;
    const int64_t size = rng.Below(40);
    for (int64_t k = 0; k < size; ++k)
      text.push_back(kBytes[static_cast<size_t>(rng.Below(static_cast<int64_t>(kBytes.size())))]);
    ExpectOkOrError(text, i % 2 == 0 ? "f.yaml" : "f.json");
  }
}

TEST(FuzzTest, BrokenArchivesAreErrors) {
  Rng rng(2);
  for (const absl::string_view magic :
       {absl::string_view("\x1f\x8b\x08\x00", 4), absl::string_view("\xfd"
                                                                    "7zXZ\0\0\x04",
                                                                    8)}) {
    for (int i = 0; i < 500; ++i) {
      std::string content(magic);
      for (int64_t k = rng.Below(60); k > 0; --k) content.push_back(static_cast<char>(rng.Next()));
      const auto text = Decompress(content, "f", 1 << 20);
      ASSERT_TRUE(text.ok() || absl::StartsWith(text.status().message(), "f: ")) << text.status();
    }
  }
}

}  // namespace
}  // namespace schedsim::codec
