#include "sim/expect/test_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/text/reader.h"
#include "sim/kernel/time_limits.h"
#include "sim/stages/default_stages.h"

namespace schedsim::sim {
namespace {

using codec::StrictReader;
using codec::Value;

constexpr absl::string_view kApiVersion = "schedsim/v1";
constexpr absl::string_view kKind = "Test";

class Reader {
 public:
  explicit Reader(const std::string& path) : errors_(path) {
    file_.path = path;
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos) folder_ = path.substr(0, slash + 1);
  }

  absl::StatusOr<TestFile> Read(const Value& root) {
    StrictReader reader(root, "", errors_);
    RETURN_IF_ERROR(errors_.ToStatusByPlace());
    CheckText(reader, root, "apiVersion", kApiVersion);
    CheckText(reader, root, "kind", kKind);
    RETURN_IF_ERROR(errors_.ToStatusByPlace());
    std::string description;
    reader.Read("description", description);
    const bool has_run =
        reader.ReadMap("run", [this](const Value& value, const std::string& path) { ReadRun(value, path); });
    if (!has_run) errors_.Add(root.position, "run: expected a map that says what is run, got none");
    std::string placements;
    reader.Read("placements", placements);
    if (!placements.empty()) file_.placements = PathOf(placements);
    const bool has_list = reader.ReadList(
        "expect", [this](const Value& value, const std::string& path) { ReadExpectation(value, path); });
    if (placements.empty() && (!has_list || file_.expectations.empty()))
      errors_.Add(root.position, "expect: expected placements or a list of expectations, got none");
    reader.Finish();
    RETURN_IF_ERROR(errors_.ToStatusByPlace());
    return std::move(file_);
  }

 private:
  void CheckText(StrictReader& reader, const Value& root, absl::string_view field,
                 absl::string_view expected) {
    std::string text;
    reader.Read(field, text);
    const Value* value = root.Find(field);
    if (text != expected)
      errors_.Add((value == nullptr ? root : *value).position, absl::StrCat(field, ": expected ", expected));
  }

  std::string PathOf(const std::string& path) const {
    return absl::StartsWith(path, "/") ? path : absl::StrCat(folder_, path);
  }

  void ReadRun(const Value& value, const std::string& path) {
    StrictReader reader(value, path, errors_);
    RunRequest& request = file_.request;
    reader.Read("scenario", request.scenario);
    if (!request.scenario.empty()) request.scenario = PathOf(request.scenario);
    reader.Read("case", request.case_name);
    reader.ReadStrings("files", request.files);
    for (std::string& file : request.files) file = PathOf(file);
    reader.Read("config", request.scheduler.config);
    if (request.scheduler.config.has_value()) request.scheduler.config = PathOf(*request.scheduler.config);
    reader.ReadStrings("otherSchedulers", request.scheduler.other_configs);
    for (std::string& file : request.scheduler.other_configs) file = PathOf(file);
    request.takes_other_schedulers = true;
    reader.ReadStrings("plugins", request.scheduler.plugins);
    for (std::string& plugin : request.scheduler.plugins) plugin = PathOf(plugin);
    std::string& recorder = request.scheduler.recorder;
    reader.Read("recorder", recorder);
    if (!recorder.empty()) recorder = PathOf(recorder);
    std::string& calls = request.scheduler.extenders.replay;
    reader.Read("extenderReplay", calls);
    if (!calls.empty()) calls = PathOf(calls);
    // YAML takes 1.37 for a number.
    if (const Value* version = reader.Take("kubernetesVersion"))
      request.scheduler.kubernetes_version = std::string(version->text);
    reader.Read("featureGates", request.scheduler.feature_gates);
    reader.ReadStrings("stages", request.stages);
    // As on the command line, a name of a set is no path.
    const std::vector<std::string> sets = DefaultStageSetNames();
    for (std::string& stages : request.stages)
      if (std::find(sets.begin(), sets.end(), stages) == sets.end()) stages = PathOf(stages);
    std::optional<int64_t> seed;
    ReadCount(reader, value, "seed", seed);
    if (seed.has_value()) request.seed = static_cast<uint64_t>(*seed);
    ReadParsed(reader, value, "bound", ParseBoundPods, request.bound);
    ReadParsed(reader, value, "until", ParseSpan, request.until);
    ReadParsed(reader, value, "start", ParseRunTime, request.start);
    ReadParsed(reader, value, "vary", ParseVariation, request.variation);
    ReadParsed(reader, value, "faults", ParseFaults, request.faults);
    if (request.scenario.empty() && request.files.empty())
      errors_.Add(value.position, absl::StrCat(path, ": expected a scenario or files, got neither"));
    reader.Finish();
  }

  // A text that `parse` makes a T of.
  template <typename T>
  void ReadParsed(StrictReader& reader, const Value& map, absl::string_view field,
                  absl::StatusOr<T> (*parse)(absl::string_view), std::optional<T>& target) {
    std::string text;
    reader.Read(field, text);
    const Value* const given = map.Find(field);
    if (given == nullptr || !given->is_string()) return;
    absl::StatusOr<T> parsed = parse(text);
    if (parsed.ok()) {
      target = *std::move(parsed);
    } else {
      errors_.Add(given->position, absl::StrCat(reader.PathOf(field), ": ", parsed.status().message()));
    }
  }

  // A number that is not negative.
  void ReadCount(StrictReader& reader, const Value& map, absl::string_view field,
                 std::optional<int64_t>& target) {
    reader.Read(field, target);
    if (target.value_or(0) >= 0) return;
    errors_.Add(map.Find(field)->position,
                absl::StrCat(reader.PathOf(field), ": expected a whole number that is not negative"));
  }

  // Says that `map`, of this path, lacks what it needs.
  void Expect(bool is_there, const Value& map, absl::string_view path, absl::string_view expected) {
    if (!is_there) errors_.Add(map.position, absl::StrCat(path, ": expected ", expected));
  }

  ObjectChoice ReadChoice(const Value& value, const std::string& path, bool is_pod) {
    ObjectChoice choice;
    StrictReader reader(value, path, errors_);
    if (is_pod) reader.Read("namespace", choice.name_space);
    reader.Read("name", choice.name);
    const bool is_name = choice.name.value_or("").find_first_of("/*") == std::string::npos;
    Expect(is_name, value, reader.PathOf("name"), "a name without its namespace, and no pattern");
    ReadParsed(reader, value, "selector", LabelSelector::Parse, choice.labels);
    reader.Finish();
    return choice;
  }

  void ReadAsksOfPods(StrictReader& reader, const Value& value, Expectation& expectation) {
    ReadCount(reader, value, "count", expectation.count);
    reader.Read("bound", expectation.bound);
    ReadParsed(reader, value, "boundWithin", ParseSpan, expectation.bound_within);
    reader.ReadMap("node", [&](const Value& map, const std::string& path) {
      expectation.node = ReadChoice(map, path, /*is_pod=*/false);
      Expect(expectation.node->name.has_value() || expectation.node->labels.has_value(), map, path,
             "name or selector");
    });
    reader.Read("pendingReason", expectation.pending_reason);
    if (expectation.pending_reason.has_value())
      Expect(!expectation.pending_reason->empty() || !value.Find("pendingReason")->is_string(),
             *value.Find("pendingReason"), reader.PathOf("pendingReason"),
             "a part of the message, got nothing");
    ReadCount(reader, value, "attemptsMax", expectation.attempts_max);
    ReadCount(reader, value, "perNodeMax", expectation.per_node_max);
    reader.ReadMap("skew", [&](const Value& map, const std::string& path) {
      StrictReader skew(map, path, errors_);
      Expectation::Skew& read = expectation.skew.emplace();
      std::optional<int64_t> max;
      skew.Read("topologyKey", read.topology_key);
      ReadCount(skew, map, "max", max);
      Expect(!read.topology_key.empty() && max.has_value(), map, path, "topologyKey and max");
      read.max = max.value_or(0);
      skew.Finish();
    });
  }

  void ReadAsksOfRun(StrictReader& reader, const Value& value, Expectation& expectation) {
    ReadCount(reader, value, "preemptionsMax", expectation.preemptions_max);
    reader.ReadMap("utilization", [&](const Value& map, const std::string& path) {
      StrictReader utilization(map, path, errors_);
      Expectation::Utilization& read = expectation.utilization.emplace();
      utilization.Read("resource", read.resource);
      ReadCount(utilization, map, "min", read.min);
      ReadCount(utilization, map, "max", read.max);
      Expect(!read.resource.empty() && (read.min.has_value() || read.max.has_value()), map, path,
             "resource, and min or max");
      utilization.Finish();
    });
  }

  void ReadExpectation(const Value& value, const std::string& path) {
    Expectation expectation;
    expectation.position = value.position;
    StrictReader reader(value, path, errors_);
    reader.Read("name", expectation.name);
    const bool has_pods = reader.ReadMap("pods", [&](const Value& map, const std::string& map_path) {
      expectation.pods = ReadChoice(map, map_path, /*is_pod=*/true);
    });
    ReadAsksOfPods(reader, value, expectation);
    ReadAsksOfRun(reader, value, expectation);
    reader.Finish();
    const bool is_of_pods = expectation.count.has_value() || expectation.AsksOfPods();
    Expect(has_pods || !is_of_pods, value, path + ": pods", "a map that chooses pods, got none");
    Expect(is_of_pods || expectation.AsksOfRun(), value, path, "something that is expected, such as bound");
    if (expectation.name.empty()) expectation.name = path;
    file_.expectations.push_back(std::move(expectation));
  }

  codec::ErrorList errors_;
  std::string folder_;
  TestFile file_;
};

}  // namespace

bool Expectation::AsksOfPods() const {
  return bound.has_value() || bound_within.has_value() || node.has_value() || pending_reason.has_value() ||
         attempts_max.has_value() || per_node_max.has_value() || skew.has_value();
}

bool Expectation::AsksOfRun() const { return preemptions_max.has_value() || utilization.has_value(); }

absl::StatusOr<TestFile> ReadTestFile(const std::string& path) {
  std::optional<TestFile> file;
  RETURN_IF_ERROR(codec::ReadValues(path, [&](const codec::Document& document) -> absl::Status {
    if (file.has_value()) {
      return codec::ErrorAt({.file = path, .position = document.root.position},
                            "expected a single document, got another one");
    }
    ASSIGN_OR_RETURN(file, Reader(path).Read(document.root));
    return absl::OkStatus();
  }));
  if (file.has_value()) return *std::move(file);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": expected a document of kind Test, got an empty file"));
}

bool IsTestFileName(absl::string_view name) {
  if (!absl::ConsumeSuffix(&name, ".yaml") && !absl::ConsumeSuffix(&name, ".yml")) return false;
  const size_t slash = name.rfind('/');
  if (slash != absl::string_view::npos) name.remove_prefix(slash + 1);
  return name == "test" || absl::EndsWith(name, ".test");
}

}  // namespace schedsim::sim
