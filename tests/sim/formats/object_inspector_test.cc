#include "sim/formats/object_inspector.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/codec/objects/objects.h"

namespace schedsim::sim {
namespace {

// Whether a file is a dump of a recorded cluster, or what was applied to it.
bool IsOfCluster(absl::string_view path) {
  if (!absl::StrContains(path, "/kwok-real/") && !absl::StrContains(path, "/snapshots/")) return false;
  return absl::StrContains(path, "/manifests/") || absl::StrContains(path, "/get.") ||
         absl::StrContains(path, "/k8s.");
}

TEST(ObjectInspectorTest, NothingIsOddAboutDumpsOfRealClusters) {
  ObjectInspector inspector;
  codec::ObjectReader reader;
  reader.set_inspector(
      [&](const codec::Value& document, absl::string_view api_version, absl::string_view kind,
          absl::string_view file) { return inspector.Inspect(document, api_version, kind, file); });
  std::vector<std::string> odd;
  int file_count = 0;
  for (const char* folder : {"/tests", "/snapshots"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(absl::StrCat(SCHEDSIM_SOURCE_DIR, folder))) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || !IsOfCluster(path)) continue;
      ++file_count;
      const absl::Status status =
          reader.Read(path, [](api::ObjectPtr, const codec::Location&) { return absl::OkStatus(); });
      if (!status.ok()) odd.emplace_back(status.message());
    }
  }
  for (const InputWarning& warning : inspector.Warnings()) odd.push_back(warning.text);
  EXPECT_EQ(odd, std::vector<std::string>());
  EXPECT_GT(file_count, 20);
}

}  // namespace
}  // namespace schedsim::sim
