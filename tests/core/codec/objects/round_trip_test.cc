// Loads recorded clusters, saves them and loads them again: nothing may be lost on the way.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

constexpr char kFolder[] = SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real";

// The files below the folder whose names start with one of the prefixes.
std::vector<std::string> Files(const std::vector<std::string>& prefixes) {
  std::vector<std::string> found;
  const auto files = ListFiles(kFolder);
  EXPECT_TRUE(files.ok()) << files.status();
  if (!files.ok()) return found;
  for (const std::string& file : *files) {
    const std::string name = std::filesystem::path(file).filename().string();
    for (const std::string& prefix : prefixes) {
      if (absl::StartsWith(name, prefix)) found.push_back(file);
    }
  }
  return found;
}

ReadResult Load(const std::string& file) {
  ReadResult result;
  ObjectReader reader;
  result.status = reader.Read(file, [&](api::ObjectPtr object, const Location&) {
    result.objects.push_back(std::move(object));
    return absl::OkStatus();
  });
  return result;
}

// The items of a file's lists, or its documents, as compact JSON: what any reader would see.
std::vector<std::string> WholeItems(const std::string& file) {
  std::vector<std::string> out;
  const absl::Status status = ReadValues(file, [&](const Document& document) {
    const Value* items = document.root.Find("items");
    if (items == nullptr) {
      out.push_back(ToJson(document.root));
    } else {
      for (const Value& item : items->items) out.push_back(ToJson(item));
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

bool SameJson(const std::string& a, const std::string& b) {
  bool is_same = false;
  const absl::Status status = ReadText(a, "a.json", {}, [&](const Document& left) {
    return ReadText(b, "b.json", {}, [&](const Document& right) {
      is_same = SameTree(left.root, right.root);
      return absl::OkStatus();
    });
  });
  return status.ok() && is_same;
}

TEST(RoundTripTest, NoFieldOfAnyObjectIsLost) {
  const std::vector<std::string> files = Files({"get.json", "get.yaml", "k8s.yaml"});
  ASSERT_GE(files.size(), 40u);
  for (const std::string& file : files) {
    const ReadResult loaded = Load(file);
    ASSERT_TRUE(loaded.status.ok()) << loaded.status;
    const std::vector<std::string> whole = WholeItems(file);
    ASSERT_EQ(loaded.objects.size(), whole.size()) << file;
    std::string json = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[";
    std::string yaml;
    for (size_t i = 0; i < whole.size(); ++i) {
      const std::string saved = ObjectJson(*loaded.objects[i]);
      EXPECT_EQ(saved, whole[i]) << file;
      absl::StrAppend(&json, i == 0 ? "" : ",", saved);
      absl::StrAppend(&yaml, "---\n", ObjectYaml(*loaded.objects[i]));
    }
    json.append("]}");
    for (const auto& [text, name] : {std::pair(json, "saved.json"), std::pair(yaml, "saved.yaml")}) {
      const ReadResult again = ReadObjects(text, name);
      ASSERT_TRUE(again.status.ok()) << file << ": " << again.status;
      ASSERT_EQ(again.objects.size(), whole.size()) << file;
      for (size_t i = 0; i < whole.size(); ++i)
        EXPECT_EQ(again.objects[i]->json->ToString(), whole[i]) << file;
    }
  }
}

TEST(RoundTripTest, YamlAndJsonOfOneClusterAreTheSame) {
  int compared = 0;
  for (const std::string& file : Files({"get.yaml"})) {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    const auto siblings = ListFiles(folder);
    ASSERT_TRUE(siblings.ok());
    for (const std::string& sibling : *siblings) {
      if (!absl::StartsWith(std::filesystem::path(sibling).filename().string(), "get.json")) continue;
      const std::vector<std::string> yaml = WholeItems(file);
      const std::vector<std::string> json = WholeItems(sibling);
      ASSERT_EQ(yaml.size(), json.size()) << file;
      for (size_t i = 0; i < yaml.size(); ++i)
        EXPECT_TRUE(SameJson(yaml[i], json[i])) << file << "\n" << yaml[i] << "\n" << json[i];
      ++compared;
    }
  }
  EXPECT_GE(compared, 4);
}

TEST(RoundTripTest, ManifestsLoad) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (entry.path().parent_path().filename() != "manifests") continue;
    const ReadResult result = Load(entry.path().string());
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_FALSE(result.objects.empty()) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 40);
}

struct Counts {
  int64_t nodes = 0;
  int64_t pods = 0;
  int64_t bound = 0;
  int64_t unbound = 0;
  std::map<std::string, int64_t> phases;

  friend bool operator==(const Counts&, const Counts&) = default;
};

int64_t NumberAt(const Value& value, absl::string_view key) {
  int64_t number = -1;
  const Value* found = value.Find(key);
  if (found == nullptr || !absl::SimpleAtoi(found->text, &number)) return -1;
  return number;
}

TEST(RoundTripTest, CountsAreThoseOfTheRealCluster) {
  int checked = 0;
  for (const std::string& file : Files({"expect.json"})) {
    const std::string scenario = std::filesystem::path(file).parent_path().string();
    const absl::Status status = ReadValues(file, [&](const Document& document) {
      for (const Member& snapshot : document.root.members) {
        const auto files = ListFiles(absl::StrCat(scenario, "/", snapshot.key));
        if (!files.ok()) continue;
        Counts want = {.nodes = NumberAt(snapshot.value, "nodes"),
                       .pods = NumberAt(snapshot.value, "pods"),
                       .bound = NumberAt(snapshot.value, "bound"),
                       .unbound = NumberAt(snapshot.value, "unbound"),
                       .phases = {}};
        for (const Member& phase : snapshot.value.Find("phase")->members) {
          EXPECT_TRUE(absl::SimpleAtoi(phase.value.text, &want.phases[std::string(phase.key)]));
        }
        Counts got;
        for (const api::ObjectPtr& object : Load(files->front()).objects) {
          got.nodes += object->kind == api::Kind::kNode;
          if (object->kind != api::Kind::kPod) continue;
          const auto& pod = static_cast<const api::Pod&>(*object);
          ++got.pods;
          ++(pod.node_name.empty() ? got.unbound : got.bound);
          ++got.phases[pod.status.phase];
        }
        EXPECT_EQ(got, want) << files->front() << " pods " << got.pods << " want " << want.pods << " bound "
                             << got.bound << " want " << want.bound;
        ++checked;
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_GE(checked, 25);
}

TEST(RoundTripTest, UnquotedKeysOfManifestsAreReadAsKubectlDoes) {
  bool found = false;
  for (const auto& entry : std::filesystem::directory_iterator(absl::StrCat(kFolder, "/mixed/manifests"))) {
    if (!absl::StrContains(entry.path().string(), "bare-pods")) continue;
    for (const api::ObjectPtr& object : Load(entry.path().string()).objects) {
      EXPECT_EQ(object->metadata.labels.Find("n"), nullptr);
      found = found || object->metadata.labels.Find("false") != nullptr;
    }
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace schedsim::codec
