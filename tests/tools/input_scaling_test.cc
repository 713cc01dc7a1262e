// Input of odd shape costs about as much as it is long: four times the input takes about four times as long,
// and not sixteen times.
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kStatus[] = "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n";

// A number as a key whose order is not that of the numbers.
std::string Mixed(int number) { return absl::StrCat("k", static_cast<unsigned>(number) * 2654435761u); }

std::string Node(int number, absl::string_view labels, absl::string_view status = kStatus) {
  return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: n", number, ", labels: {", labels,
                      "}}\n", status);
}

// A map of n keys on one line.
std::string Keys(int n, absl::string_view value) {
  std::string text;
  for (int i = 0; i < n; ++i) absl::StrAppend(&text, i == 0 ? "" : ", ", Mixed(i), ": ", value);
  return text;
}

std::string Nodes(int n, const std::function<std::string(int)>& node) {
  std::string text;
  for (int i = 0; i < n; ++i) text += node(i);
  return text;
}

struct Shape {
  const char* name;
  // How many there are at first.
  int count = 0;
  std::function<std::string(int)> text;
};

double CpuSeconds(const std::string& content) {
  const TestFolder folder;
  const std::string path = folder.Write("objects.yaml", content);
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.cpu_seconds;
}

TEST(InputScalingTest, FourTimesTheInputTakesAboutFourTimesAsLong) {
  const Shape shapes[] = {
      {"labels of a node", 20'000, [](int n) { return Node(1, Keys(n, "x")); }},
      {"annotations of a config map", 20'000,
       [](int n) {
         return absl::StrCat(Node(1, ""),
                             "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, uid: u, annotations: {",
                             Keys(n, "x"), "}}\n");
       }},
      {"resources of a node", 10'000,
       [](int n) {
         std::string resources;
         for (int i = 0; i < n; ++i) absl::StrAppend(&resources, ", x.y/", Mixed(i), ": 1");
         return Node(1, "", absl::StrCat("status: {allocatable: {cpu: 4, pods: 10", resources, "}}\n"));
       }},
      {"resources of a pod", 5'000,
       [](int n) {
         std::string resources = "cpu: 1";
         for (int i = 0; i < n; ++i) absl::StrAppend(&resources, ", x.y/", Mixed(i), ": 1");
         return absl::StrCat(
             Node(1, "", absl::StrCat("status: {allocatable: {pods: 10, ", resources, "}}\n")),
             "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i, "
             "resources: "
             "{requests: {",
             resources, "}, limits: {", resources, "}}}]}\n");
       }},
      {"nodes of one zone", 60'000,
       [](int n) { return Nodes(n, [](int i) { return Node(i, "topology.kubernetes.io/zone: a"); }); }},
      {"a zone a node", 20'000,
       [](int n) {
         return Nodes(n, [](int i) { return Node(i, absl::StrCat("topology.kubernetes.io/zone: z", i)); });
       }},
      {"images that all nodes have", 15'000,
       [](int n) {
         std::string images = "status: {allocatable: {cpu: 4, pods: 10}, images: [";
         for (int i = 0; i < 30; ++i) absl::StrAppend(&images, i == 0 ? "" : ", ", "{names: [app-", i, "]}");
         return Nodes(n, [&](int i) { return Node(i, "", absl::StrCat(images, "]}\n")); });
       }},
      {"Deployments beside ReplicaSets that nobody takes", 1'000,
       [](int n) {
         const auto workload = [](const std::string& kind, const std::string& name) {
           return absl::StrCat("---\napiVersion: apps/v1\nkind: ", kind, "\nmetadata: {name: ", name,
                               ", labels: {app: ", name,
                               "}}\nspec: {replicas: 0, selector: {matchLabels: {app: ", name,
                               "}}, template: {metadata: {labels: {app: ", name,
                               "}}, spec: {containers: [{name: c, image: i}]}}}\n");
         };
         std::string text = Node(1, "");
         for (int i = 0; i < n; ++i) {
           text +=
               workload("Deployment", absl::StrCat("d", i)) + workload("ReplicaSet", absl::StrCat("r", i));
         }
         return text;
       }},
      {"fields that are not known", 20'000,
       [](int n) { return absl::StrCat(Node(1, ""), "spec: {", Keys(n, "x"), "}\n"); }},
      {"a map behind a merge", 20'000,
       [](int n) {
         return absl::StrCat(Node(1, ""), "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
                             "binaryData: &a {b: c}\ndata: {<<: *a, ", Keys(n, "x"), "}\n");
       }},
  };
  for (const Shape& shape : shapes) {
    const double once = CpuSeconds(shape.text(shape.count));
    const double four_times = CpuSeconds(shape.text(4 * shape.count));
    EXPECT_LT(four_times, 6 * once + 0.5) << shape.name << ": " << once << " s, then " << four_times << " s";
  }
}

}  // namespace
}  // namespace schedsim
