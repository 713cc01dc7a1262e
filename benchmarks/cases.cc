#include "benchmarks/cases.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/rng.h"
#include "core/codec/text/json_writer.h"

namespace schedsim::benchmarks {
namespace {

using codec::JsonWriter;

constexpr int32_t kZoneCount = 5;
constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kHostname[] = "kubernetes.io/hostname";

// What the pods of one deployment ask for.
struct Deployment {
  enum class Kind : uint8_t {
    kPlain,
    kZoneSpread,      // maxSkew over the zones, DoNotSchedule.
    kHostnameSpread,  // maxSkew over the nodes, ScheduleAnyway.
    kAntiAffinity,    // No two on a node.
    kPreferredZone,   // Rather in a zone that runs the deployment before this one, rather not on a node with
                      // its own.
    kRequiredZone,    // Only in zones that run the deployment before this one.
  };
  int32_t number = 0;
  Kind kind = Kind::kPlain;
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int64_t priority = 0;
};

std::string AppOf(int32_t deployment) { return absl::StrCat("app-", deployment); }

void WriteSelector(codec::JsonWriter& json, const std::string& app) {
  json.Key("labelSelector")
      .BeginObject()
      .Key("matchLabels")
      .BeginObject()
      .Field("app", app)
      .EndObject()
      .EndObject();
}

void WriteSpread(codec::JsonWriter& json, const std::string& app, absl::string_view key, int32_t max_skew,
                 absl::string_view when_unsatisfiable) {
  json.Key("topologySpreadConstraints").BeginArray().BeginObject();
  json.Field("maxSkew", max_skew).Field("topologyKey", key).Field("whenUnsatisfiable", when_unsatisfiable);
  WriteSelector(json, app);
  json.EndObject().EndArray();
}

void WriteTerm(codec::JsonWriter& json, const std::string& app, absl::string_view key) {
  json.BeginObject().Field("topologyKey", key);
  WriteSelector(json, app);
  json.EndObject();
}

void WriteRequired(codec::JsonWriter& json, absl::string_view affinity, const std::string& app,
                   absl::string_view key) {
  json.Key(affinity).BeginObject().Key("requiredDuringSchedulingIgnoredDuringExecution").BeginArray();
  WriteTerm(json, app, key);
  json.EndArray().EndObject();
}

void WritePreferred(codec::JsonWriter& json, absl::string_view affinity, const std::string& app,
                    absl::string_view key) {
  json.Key(affinity).BeginObject().Key("preferredDuringSchedulingIgnoredDuringExecution").BeginArray();
  json.BeginObject().Field("weight", 50).Key("podAffinityTerm");
  WriteTerm(json, app, key);
  json.EndObject().EndArray().EndObject();
}

void WriteRules(codec::JsonWriter& json, const Deployment& deployment) {
  using Kind = Deployment::Kind;
  const std::string app = AppOf(deployment.number);
  const std::string before = AppOf(std::max(deployment.number - 1, 0));
  if (deployment.kind == Kind::kPlain) return;
  if (deployment.kind == Kind::kZoneSpread) return WriteSpread(json, app, kZone, 2, "DoNotSchedule");
  if (deployment.kind == Kind::kHostnameSpread) return WriteSpread(json, app, kHostname, 1, "ScheduleAnyway");
  json.Key("affinity").BeginObject();
  if (deployment.kind == Kind::kAntiAffinity) WriteRequired(json, "podAntiAffinity", app, kHostname);
  if (deployment.kind == Kind::kRequiredZone) WriteRequired(json, "podAffinity", before, kZone);
  if (deployment.kind == Kind::kPreferredZone) {
    WritePreferred(json, "podAffinity", before, kZone);
    WritePreferred(json, "podAntiAffinity", app, kHostname);
  }
  json.EndObject();
}

void WriteNode(codec::JsonWriter& json, int32_t number, int64_t cpu, int64_t memory_gib) {
  const std::string name = absl::StrCat("node-", number);
  json.BeginObject().Field("apiVersion", "v1").Field("kind", "Node").Key("metadata").BeginObject();
  json.Field("name", name).Key("labels").BeginObject();
  json.Field(kHostname, name)
      .Field(kZone, absl::StrCat("zone-", number % kZoneCount))
      .EndObject()
      .EndObject();
  json.Key("status").BeginObject().Key("allocatable").BeginObject();
  json.Field("cpu", absl::StrCat(cpu)).Field("memory", absl::StrCat(memory_gib, "Gi")).Field("pods", "110");
  json.EndObject().EndObject().EndObject();
}

// `node`: -1: pending. `phase`: "": none.
void WritePod(codec::JsonWriter& json, const std::string& name, const Deployment& deployment, int32_t node,
              absl::string_view phase = "") {
  json.BeginObject().Field("apiVersion", "v1").Field("kind", "Pod").Key("metadata").BeginObject();
  json.Field("namespace", "default").Field("name", name).Key("labels").BeginObject();
  json.Field("app", AppOf(deployment.number)).EndObject().EndObject();
  json.Key("spec").BeginObject();
  if (deployment.priority != 0) json.Field("priority", deployment.priority);
  if (node >= 0) json.Field("nodeName", absl::StrCat("node-", node));
  json.Key("containers")
      .BeginArray()
      .BeginObject()
      .Field("name", "main")
      .Field("image", AppOf(deployment.number));
  json.Key("resources").BeginObject().Key("requests").BeginObject();
  json.Field("cpu", absl::StrCat(deployment.cpu_milli, "m"))
      .Field("memory", absl::StrCat(deployment.memory_mib, "Mi"));
  json.EndObject().EndObject().EndObject().EndArray();
  WriteRules(json, deployment);
  json.EndObject();
  if (!phase.empty()) json.Key("status").BeginObject().Field("phase", phase).EndObject();
  json.EndObject();
}

void BeginCase(codec::JsonWriter& json, absl::string_view name, int32_t node_count) {
  json.BeginObject().Field("name", absl::StrCat(name, "-", node_count)).Field("record", "decisions");
}

// Half of the deployments are plain; the others take turns.
Deployment::Kind SpreadingKind(int32_t number) {
  using Kind = Deployment::Kind;
  constexpr Kind kTurns[] = {Kind::kZoneSpread,    Kind::kHostnameSpread, Kind::kAntiAffinity,
                             Kind::kPreferredZone, Kind::kHostnameSpread, Kind::kZoneSpread,
                             Kind::kRequiredZone,  Kind::kAntiAffinity};
  return number % 2 == 0 ? Kind::kPlain : kTurns[static_cast<size_t>(number / 2) % std::size(kTurns)];
}

}  // namespace

std::string SpreadingCase(int32_t node_count) {
  constexpr int64_t kNodeCpu[] = {16, 32, 64};
  const int32_t bound_count = 6 * node_count;
  const int32_t pending_count = 2 * node_count / 5;
  Rng rng(1);
  codec::JsonWriter json;
  BeginCase(json, "spreading", node_count);
  // One attempt a millisecond, and a second to spare.
  json.Field("end", pending_count / 1000 + 2).Key("objects").BeginArray();
  for (int32_t i = 0; i < node_count; ++i) {
    const int64_t cpu = kNodeCpu[static_cast<size_t>(rng.Below(3))];
    WriteNode(json, i, cpu, cpu * 4);
  }
  std::vector<Deployment> deployments;
  for (int32_t i = 0; i < std::max(node_count / 50, 1); ++i) {
    deployments.push_back({.number = i,
                           .kind = SpreadingKind(i),
                           .cpu_milli = 100 + 50 * rng.Below(19),
                           .memory_mib = 128 + 64 * rng.Below(31)});
  }
  const int32_t deployment_count = static_cast<int32_t>(deployments.size());
  for (int32_t i = 0; i < bound_count; ++i) {
    // Each deployment goes round the nodes in large steps: no two of its pods on a node.
    const int32_t number = i % deployment_count;
    WritePod(json, absl::StrCat("bound-", i), deployments[static_cast<size_t>(number)],
             (37 * number + 13 * (i / deployment_count)) % node_count);
  }
  for (int32_t i = 0; i < pending_count; ++i) {
    WritePod(json, absl::StrCat("pending-", i), deployments[static_cast<size_t>(rng.Below(deployment_count))],
             -1);
  }
  json.EndArray().EndObject();
  return json.text();
}

std::string SaturatedCase(int32_t node_count) {
  constexpr int32_t kPodsPerNode = 8;
  constexpr int32_t kFinishIntervalMilli = 1800;
  const int32_t finishing_count = 2 * node_count;
  const Deployment bound = {.number = 0, .cpu_milli = 2000, .memory_mib = 4096};
  const auto bound_name = [](int32_t i) { return absl::StrCat("bound-", i); };
  Rng rng(1);
  codec::JsonWriter json;
  BeginCase(json, "saturated", node_count);
  json.Field("end", finishing_count * kFinishIntervalMilli / 1000).Key("objects").BeginArray();
  for (int32_t i = 0; i < node_count; ++i) WriteNode(json, i, 2 * kPodsPerNode, 4 * kPodsPerNode);
  for (int32_t i = 0; i < kPodsPerNode * node_count; ++i)
    WritePod(json, bound_name(i), bound, i % node_count);
  std::vector<Deployment> templates;
  for (int32_t i = 0; i < std::max(node_count / 5, 2); ++i) {
    const bool small = i % 2 == 0;
    templates.push_back({.number = i + 1,
                         .cpu_milli = small ? 1000 + 10 * rng.Below(101) : 2010 + 10 * rng.Below(400),
                         .memory_mib = 1024 + 16 * rng.Below(65)});
  }
  for (int32_t i = 0; i < 20 * node_count; ++i) {
    WritePod(json, absl::StrCat("pending-", i), templates[static_cast<size_t>(i) % templates.size()], -1);
  }
  json.EndArray().Key("steps").BeginArray();
  for (int32_t i = 0; i < finishing_count; ++i) {
    // Not one node after the other, and each at most twice.
    const int32_t node = static_cast<int32_t>(int64_t{7919} * i % node_count);
    const int32_t pod = node + (i / node_count) * node_count;
    json.BeginObject()
        .Key("at")
        .Raw(absl::StrCat(absl::SixDigits(0.001 * kFinishIntervalMilli * i + 0.0005)))
        .Key("update");
    WritePod(json, bound_name(pod), bound, node, "Succeeded");
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

std::string PreemptionCase(int32_t node_count) {
  constexpr int32_t kPodsPerNode = 6;
  const int32_t pending_count = 2 * node_count / 5;
  Rng rng(1);
  codec::JsonWriter json;
  BeginCase(json, "preemption", node_count);
  json.Field("end", pending_count / 1000 + 30).Field("terminationSeconds", 5).Key("objects").BeginArray();
  for (int32_t i = 0; i < node_count; ++i) WriteNode(json, i, 12, 48);
  for (int32_t i = 0; i < 5; ++i) {
    json.BeginObject()
        .Field("apiVersion", "policy/v1")
        .Field("kind", "PodDisruptionBudget")
        .Key("metadata")
        .BeginObject();
    json.Field("namespace", "default").Field("name", absl::StrCat("budget-", i)).EndObject();
    json.Key("spec").BeginObject().Key("selector").BeginObject().Key("matchLabels").BeginObject();
    json.Field("app", AppOf(i)).EndObject().EndObject().EndObject();
    json.Key("status").BeginObject().Field("disruptionsAllowed", i % 2).EndObject().EndObject();
  }
  for (int32_t i = 0; i < kPodsPerNode * node_count; ++i) {
    const Deployment bound = {.number = static_cast<int32_t>(rng.Below(20)),
                              .cpu_milli = 2000,
                              .memory_mib = 4096,
                              .priority = 100 * rng.Below(4)};
    WritePod(json, absl::StrCat("bound-", i), bound, i % node_count);
  }
  std::vector<Deployment> templates;
  for (int32_t i = 0; i < std::max(node_count / 50, 1); ++i) {
    templates.push_back({.number = 20 + i,
                         .cpu_milli = 1000 + 500 * rng.Below(14),
                         .memory_mib = 1024 + 512 * rng.Below(14),
                         .priority = 200 + 100 * rng.Below(4)});
  }
  for (int32_t i = 0; i < pending_count; ++i) {
    WritePod(json, absl::StrCat("pending-", i),
             templates[static_cast<size_t>(rng.Below(static_cast<int64_t>(templates.size())))], -1);
  }
  json.EndArray().EndObject();
  return json.text();
}

std::string WaitingCase(int32_t node_count) {
  constexpr int32_t kUpdateIntervalMilli = 5;
  const int32_t pending_count = 20 * node_count;
  const int32_t update_count = 20 * node_count;
  const int32_t start_milli = pending_count + 10'000;  // One attempt a millisecond before that.
  const int32_t template_count = std::max(node_count / 5, 2);
  codec::JsonWriter json;
  BeginCase(json, "waiting", node_count);
  json.Field("end", (start_milli + update_count * kUpdateIntervalMilli) / 1000 + 1)
      .Key("objects")
      .BeginArray();
  for (int32_t i = 0; i < node_count; ++i) WriteNode(json, i, 1, 4);
  for (int32_t i = 0; i < pending_count; ++i) {
    const Deployment pending = {.number = i % template_count, .cpu_milli = 4000 + 10 * (i % template_count)};
    WritePod(json, absl::StrCat("pending-", i), pending, -1);
  }
  json.EndArray().Key("steps").BeginArray();
  for (int32_t i = 0; i < update_count; ++i) {
    json.BeginObject().Key("at").Raw(
        absl::StrCat(absl::SixDigits(0.001 * (start_milli + kUpdateIntervalMilli * i))));
    json.Key("update");
    WriteNode(json, i % node_count, 1 + (i / node_count + 1) % 2, 4);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

absl::StatusOr<std::string> MakeCase(absl::string_view kind, int32_t node_count) {
  if (kind == "spreading") return SpreadingCase(node_count);
  if (kind == "saturated") return SaturatedCase(node_count);
  if (kind == "preemption") return PreemptionCase(node_count);
  if (kind == "waiting") return WaitingCase(node_count);
  return absl::InvalidArgumentError(
      absl::StrCat("no case \"", kind, "\", expected spreading, saturated, preemption or waiting"));
}

}  // namespace schedsim::benchmarks
