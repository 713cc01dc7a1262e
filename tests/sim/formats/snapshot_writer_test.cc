#include "sim/formats/snapshot_writer.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"
#include "gtest/gtest.h"
#include "sim/formats/cluster_files.h"
#include "sim/formats/kwok_yaml.h"
#include "sim/formats/snapshot_objects.h"

namespace schedsim::sim {
namespace {

namespace fs = std::filesystem;

// Compact JSON with sorted keys, without the version where it does not count.
std::string Canonical(const codec::Value& value, bool with_version) {
  if (value.is_array()) {
    std::string out = "[";
    for (const codec::Value& item : value.items) absl::StrAppend(&out, Canonical(item, with_version), ",");
    return out + "]";
  }
  if (!value.is_object()) return codec::ToJson(value);
  std::map<std::string, std::string> members;
  for (const codec::Member& member : value.members) {
    if (!with_version && member.key == "resourceVersion") continue;
    members[std::string(member.key)] = Canonical(member.value, with_version);
  }
  std::string out = "{";
  for (const auto& [key, text] : members) absl::StrAppend(&out, key, ":", text, ",");
  return out + "}";
}

// Sorted, so that the order of objects does not count.
std::vector<std::string> Canonical(const std::vector<std::string>& objects, bool with_version) {
  std::vector<std::string> list;
  for (const std::string& json : objects) {
    EXPECT_EQ(codec::ReadText(json, "object.json", {},
                              [&](const codec::Document& document) {
                                list.push_back(Canonical(document.root, with_version));
                                return absl::OkStatus();
                              }),
              absl::OkStatus());
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::string Temporary(const std::string& name, const std::string& content) {
  // Tests of two builds may run at once.
  const std::string path = absl::StrCat(testing::TempDir(), "/", getpid(), "-", name);
  FILE* file = std::fopen(path.c_str(), "wb");
  EXPECT_EQ(std::fwrite(content.data(), 1, content.size(), file), content.size());
  std::fclose(file);
  return path;
}

std::vector<std::string> ReadBack(const std::string& name, const std::string& content) {
  const std::string path = Temporary(name, content);
  absl::StatusOr<SnapshotObjects> read = ReadSnapshotObjects({path});
  fs::remove(path);
  EXPECT_EQ(read.status(), absl::OkStatus());
  if (!read.ok()) return {};
  EXPECT_TRUE(read->warnings.empty()) << absl::StrJoin(read->warnings, "\n");
  return std::move(read->objects);
}

const std::vector<std::string>& SomeObjects() {
  static const auto* const kObjects = new std::vector<std::string>{
      R"({"apiVersion":"kwok.x-k8s.io/v1alpha1","kind":"Stage","metadata":{"name":"s"},"spec":{"n":1.50}})",
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"default"}})",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"b","name":"a","resourceVersion":"12"},)"
      R"("spec":{"containers":[{"name":"c","image":"i","args":["yes","0","a: b",""]}],"nodeName":"n1"}})",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"a","name":"z","resourceVersion":"9"},"spec":{}})",
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})",
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"s"},)"
      R"("spec":{"group":"kwok.x-k8s.io","names":{"kind":"Stage","plural":"stages"}}})",
  };
  return *kObjects;
}

TEST(SnapshotWriterTest, HasKwoksOrderAndStyle) {
  const absl::StatusOr<SnapshotText> written = WriteSnapshot(SomeObjects(), SnapshotFormat::kK8s);
  ASSERT_EQ(written.status(), absl::OkStatus());
  EXPECT_EQ(written->text, R"(apiVersion: v1
kind: Node
metadata:
  name: n1
---
apiVersion: v1
kind: Pod
metadata:
  name: a
  namespace: b
spec:
  containers:
  - args:
    - "yes"
    - "0"
    - 'a: b'
    - ""
    image: i
    name: c
  nodeName: n1
---
apiVersion: v1
kind: Pod
metadata:
  name: z
  namespace: a
spec: {}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: s
spec:
  group: kwok.x-k8s.io
  names:
    kind: Stage
    plural: stages
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: b
  namespace: default
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: s
spec:
  "n": 1.50
)");
}

// A run takes nodes and pending pods in the order of its input.
TEST(SnapshotWriterTest, SaysWhereEtcdTakesAnotherOrder) {
  const std::vector<std::string> objects = {
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","namespace":"a","uid":"1"},"spec":{}})",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"a","uid":"2"},"spec":{}})"};
  const absl::StatusOr<SnapshotText> json = WriteSnapshot(objects, SnapshotFormat::kJson);
  ASSERT_EQ(json.status(), absl::OkStatus());
  EXPECT_TRUE(json->warnings.empty());
  EXPECT_LT(json->text.find(R"("name": "b")"), json->text.find(R"("name": "a")"));
  const absl::StatusOr<SnapshotText> etcd = WriteSnapshot(objects, SnapshotFormat::kEtcd);
  ASSERT_EQ(etcd.status(), absl::OkStatus());
  EXPECT_EQ(etcd->warnings,
            std::vector<std::string>{"etcd keeps objects by name: the pending pods are in another order than "
                                     "in the input, in which a run takes them"});
  EXPECT_TRUE(WriteSnapshot({objects[1], objects[0]}, SnapshotFormat::kEtcd)->warnings.empty());
}

TEST(SnapshotWriterTest, PrintsAListAsKubectl) {
  const absl::StatusOr<SnapshotText> written = WriteSnapshot(
      {R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n","labels":{}}})"}, SnapshotFormat::kJson);
  ASSERT_EQ(written.status(), absl::OkStatus());
  EXPECT_EQ(written->text, R"({
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "labels": {},
                "name": "n"
            }
        }
    ],
    "kind": "List",
    "metadata": {
        "resourceVersion": ""
    }
}
)");
}

// Texts that YAML might take for something else, or lose a part of.
constexpr absl::string_view kTexts[] = {"",
                                        " ",
                                        "a\n",
                                        "a\nb",
                                        "a\n\nb\n\n",
                                        "\na",
                                        " a\nb",
                                        "a \nb",
                                        "a\n ",
                                        "\n",
                                        "a\tb\nc",
                                        "\ttab",
                                        "x: y",
                                        "- a",
                                        "#c",
                                        "a #c",
                                        "'",
                                        "\"",
                                        "\\",
                                        "yes",
                                        "0x1f",
                                        "1e3",
                                        "1_000",
                                        "0b1",
                                        "012",
                                        ".inf",
                                        "~",
                                        "null",
                                        "2026-01-01",
                                        "12:30:45",
                                        "<<",
                                        "=",
                                        "!tag",
                                        "&a",
                                        "*a",
                                        "%d",
                                        "@x",
                                        "`x",
                                        "{a: b}",
                                        "[a]",
                                        "a,b",
                                        "k:{\"t\"",
                                        "\xc3\xbc",
                                        "\xe6\x97\xa5",
                                        "\xf0\x9f\x98\x80",
                                        "\xe2\x80\xa8",
                                        "\xe2\x80\xa9x",
                                        "\xc2\x85",
                                        "\xef\xbb\xbf"
                                        "a",
                                        "\x7f",
                                        "a\r\nb",
                                        "\xc2\x80",
                                        "\xef\xbf\xbe",
                                        "a: |\n  b\n",
                                        "---",
                                        "...",
                                        "--- a\nb",
                                        "a\n---\nb",
                                        "\x01",
                                        "-",
                                        "?",
                                        ":",
                                        "a:",
                                        "? a"};

TEST(SnapshotWriterTest, KeepsEveryText) {
  std::vector<std::string> texts(std::begin(kTexts), std::end(kTexts));
  texts.emplace_back(2000, 'k');
  for (const std::string& text : texts) {
    std::string quoted;
    codec::AppendJsonString(text, quoted);
    const std::string json =
        absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{)",
                     quoted == R"("")" ? "" : absl::StrCat(quoted, ":\"x\","), R"("list":[)", quoted, ",[",
                     quoted, ",[]],{\"a\":", quoted, R"(,"b":{}}],"text":)", quoted, "}}");
    const absl::StatusOr<SnapshotText> written = WriteSnapshot({json}, SnapshotFormat::kK8s);
    ASSERT_EQ(written.status(), absl::OkStatus());
    EXPECT_EQ(Canonical(ReadBack("texts.yaml", written->text), true), Canonical({json}, true))
        << quoted << "\n"
        << written->text;
  }
}

TEST(SnapshotWriterTest, EtcdKeepsVersionsAndGivesTheNextOnes) {
  const absl::StatusOr<SnapshotText> written = WriteSnapshot(SomeObjects(), SnapshotFormat::kEtcd);
  ASSERT_EQ(written.status(), absl::OkStatus());
  ASSERT_EQ(written->warnings.size(), 1u);
  EXPECT_TRUE(absl::StrContains(written->warnings[0], "and 5 more: no metadata.uid")) << written->warnings[0];
  EXPECT_TRUE(absl::StrContains(written->text, "/registry/kwok.x-k8s.io/stages/s"));
  EXPECT_TRUE(absl::StrContains(written->text, "/registry/pods/b/a"));
  std::map<std::string, std::string> versions;
  for (const std::string& json : ReadBack("versions.db", written->text)) {
    const size_t at = json.find(R"("resourceVersion":")");
    ASSERT_NE(at, std::string::npos) << json;
    versions[json.substr(json.find(R"("kind":")") + 8, 4)] +=
        json.substr(at + 19, json.find('"', at + 19) - at - 19) + " ";
  }
  EXPECT_EQ(versions["Pod\""], "9 12 ");
  // In the order of the keys, from the newest version on.
  EXPECT_EQ(versions["Cust"], "13 ");
  EXPECT_EQ(versions["Stag"], "14 ");
  EXPECT_EQ(versions["Node"], "15 ");
}

TEST(SnapshotWriterTest, EtcdNeedsNamesAndDefinitions) {
  const absl::StatusOr<SnapshotText> nameless = WriteSnapshot(
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"a-"}})"}, SnapshotFormat::kEtcd);
  EXPECT_TRUE(
      absl::StrContains(nameless.status().message(), "Pod: metadata.name: etcd keeps objects by name"));
  const absl::StatusOr<SnapshotText> undefined =
      WriteSnapshot({R"({"apiVersion":"x.io/v1","kind":"Policy","metadata":{"name":"a","uid":"u"}})"},
                    SnapshotFormat::kEtcd);
  ASSERT_EQ(undefined.status(), absl::OkStatus());
  ASSERT_EQ(undefined->warnings.size(), 1u);
  EXPECT_TRUE(absl::StrContains(undefined->warnings[0], "no CustomResourceDefinition of Policy.x.io"));
  EXPECT_TRUE(absl::StrContains(undefined->text, "/registry/x.io/policies/a"));
}

// What kubectl leaves out stands in the object that the API server has.
TEST(SnapshotWriterTest, EtcdNamesTheNamespace) {
  const absl::StatusOr<SnapshotText> written = WriteSnapshot(
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u"}})"}, SnapshotFormat::kEtcd);
  ASSERT_EQ(written.status(), absl::OkStatus());
  EXPECT_TRUE(absl::StrContains(written->text, "/registry/pods/default/a"));
  EXPECT_TRUE(absl::StrContains(written->text, R"("namespace":"default")"));
}

TEST(SnapshotWriterTest, TheNameSaysTheFormat) {
  EXPECT_EQ(SnapshotFormatOf("a/b.yaml").value(), SnapshotFormat::kK8s);
  EXPECT_EQ(SnapshotFormatOf("b.yml.gz").value(), SnapshotFormat::kK8s);
  EXPECT_EQ(SnapshotFormatOf("b.json.zst").value(), SnapshotFormat::kJson);
  EXPECT_EQ(SnapshotFormatOf("b.db").value(), SnapshotFormat::kEtcd);
  EXPECT_FALSE(SnapshotFormatOf("b.txt").ok());
  EXPECT_FALSE(SnapshotFormatOf("db").ok());
}

// All files with objects of the repository.
std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const char* folder : {"snapshots", "scenarios", "tests/tools/kwok-real", "tests/tools/kwok-real2",
                             "tests/tools/cases", "tests/sim/controllers/volumes"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(absl::StrCat(SCHEDSIM_SOURCE_DIR "/", folder))) {
      const std::string path = entry.path().string();
      const std::string name = entry.path().filename().string();
      const bool has_objects = absl::StrContains(name, ".yaml") || absl::StrContains(name, ".json") ||
                               absl::StrContains(name, ".db");
      const bool is_other =
          name == "expect.json" || name == "scenario.yaml" || absl::StrContains(path, "/expected/");
      if (entry.is_regular_file() && has_objects && !is_other) files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Loading and saving loses no field of any object, in any format.
TEST(SnapshotWriterTest, LosesNothingOfTheFilesOfTheRepository) {
  int64_t compared = 0;
  for (const std::string& file : Files()) {
    const absl::StatusOr<SnapshotObjects> read = ReadSnapshotObjects({file});
    if (!read.ok()) {
      // Stages and configurations are no objects of a cluster; names are made up later.
      EXPECT_TRUE(absl::StrContains(read.status().message(), "expected")) << read.status();
      continue;
    }
    const auto before = Canonical(read->objects, /*with_version=*/true);
    const auto before_without = Canonical(read->objects, /*with_version=*/false);
    for (const SnapshotFormat format : {SnapshotFormat::kK8s, SnapshotFormat::kJson, SnapshotFormat::kEtcd}) {
      const absl::StatusOr<SnapshotText> written = WriteSnapshot(read->objects, format);
      if (format == SnapshotFormat::kEtcd && absl::StrContains(written.status().message(), "by name"))
        continue;
      ASSERT_EQ(written.status(), absl::OkStatus()) << file;
      const std::vector<std::string> after = ReadBack("objects", written->text);
      if (format == SnapshotFormat::kEtcd) {
        // Manifests leave out what an object is stored with.
        if (absl::StrContains(read->objects[0], R"("uid")")) {
          EXPECT_EQ(Canonical(after, false), before_without) << file;
        }
        EXPECT_EQ(after.size(), read->objects.size()) << file;
      } else if (format == SnapshotFormat::kK8s) {
        EXPECT_EQ(Canonical(after, false), before_without) << file;
      } else {
        EXPECT_EQ(Canonical(after, true), before) << file;
      }
    }
    compared += static_cast<int64_t>(read->objects.size());
  }
  EXPECT_GT(compared, 10'000);
}

}  // namespace
}  // namespace schedsim::sim
