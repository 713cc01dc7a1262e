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

// What the inspector says of all files below a folder.
std::vector<std::string> WarningsBelow(const std::string& folder) {
  ObjectInspector inspector;
  codec::ObjectReader reader;
  reader.set_inspector(
      [&](const codec::Value& document, absl::string_view api_version, absl::string_view kind,
          absl::string_view file) { return inspector.Inspect(document, api_version, kind, file); });
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const bool is_cluster = absl::StrContains(path, "/manifests/") || absl::StrContains(path, "/get.") ||
                            absl::StrContains(path, "/k8s.") || absl::StrContains(path, "/cluster");
    if (!entry.is_regular_file() || !is_cluster) continue;
    const absl::Status status =
        reader.Read(path, [](api::ObjectPtr, const codec::Location&) { return absl::OkStatus(); });
    if (!status.ok()) out.push_back(absl::StrCat(path, ": ", status.message()));
  }
  for (const InputWarning& warning : inspector.Warnings()) out.push_back(warning.text);
  return out;
}

TEST(ObjectInspectorTest, NothingIsOddAboutDumpsOfRealClusters) {
  for (const char* folder : {"tests/data/kwok-real", "snapshots"}) {
    EXPECT_EQ(WarningsBelow(absl::StrCat(SCHEDSIM_SOURCE_DIR, "/", folder)), std::vector<std::string>())
        << folder;
  }
}

}  // namespace
}  // namespace schedsim::sim
