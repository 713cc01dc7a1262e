#include "sim/stages/stage_functions.h"

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "core/api/go_text.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"
#include "sim/templates/sprig_functions.h"

namespace schedsim::sim {
namespace {

// A text as a JSON string; anything else as JSON, and that as a string.
GoResult Quote(const GoArguments& arguments) {
  const std::string json = arguments[0].Json();
  std::string out;
  if (!json.empty() && json[0] == '"') return GoValue(json);
  codec::AppendJsonString(json, out);
  return GoValue(std::move(out));
}

// With a second argument: on a line of its own, so many levels deep.
GoResult Yaml(const GoArguments& arguments) {
  codec::Document document;
  std::string text = codec::ToYaml(DocumentValueOf(arguments[0], document));
  text = std::string(absl::StripTrailingAsciiWhitespace(text));
  if (arguments.size() == 1) return GoValue(std::move(text));
  const int64_t* levels = arguments[1].AsInt();
  if (levels == nullptr || *levels < 0 || *levels > 100) {
    return absl::InvalidArgumentError(absl::StrCat("expected a number of levels, got ", arguments[1].Text()));
  }
  if (*levels == 0) return GoValue(std::move(text));
  const std::string pad = absl::StrCat("\n", std::string(static_cast<size_t>(*levels) * 2, ' '));
  return GoValue(absl::StrCat(pad, absl::StrReplaceAll(text, {{"\n", pad}})));
}

struct EnvironmentFunction {
  const char* name;
  size_t argument_count_min;
  size_t argument_count_max;
};

const EnvironmentFunction kEnvironmentFunctions[] = {
    {"Now", 0, 0},      {"StartTime", 0, 0}, {"Version", 0, 0},    {"NodeIP", 0, 0},
    {"NodeName", 0, 0}, {"NodePort", 0, 0},  {"NodeIPWith", 1, 1}, {"NodeIPsWith", 1, 1},
    {"PodIP", 0, 0},    {"PodIPWith", 5, 5}, {"PodIPsWith", 5, 5},
};

// For functions that are only looked up.
class NoEnvironment : public StageEnvironment {
 public:
  GoResult Call(absl::string_view function, const GoArguments& /*arguments*/) override {
    return absl::InvalidArgumentError(absl::StrCat(function, " has no value here"));
  }
};

class NoClock : public Clock {
 public:
  absl::Time Now() const override { return absl::UnixEpoch(); }
};

using cel::CelArguments;
using cel::CelResult;
using cel::CelValue;

// Since an object, which need not be there, was made.
CelResult SinceSecond(const Clock& clock, const CelArguments& arguments) {
  if (arguments.size() != 1) return cel::NoSuchOverload("SinceSecond", arguments);
  const CelValue* metadata = arguments[0].Find("metadata");
  const CelValue* created = metadata == nullptr ? nullptr : metadata->Find("creationTimestamp");
  std::optional<absl::Time> time;
  if (created != nullptr && created->Is(CelValue::Type::kTimestamp)) time = created->AsTime();
  if (created != nullptr && created->Is(CelValue::Type::kString))
    time = api::ParseRfc3339(created->AsString());
  if (!time.has_value()) return absl::InvalidArgumentError("SinceSecond: no creationTimestamp");
  return CelValue::Double(absl::ToDoubleSeconds(clock.Now() - *time));
}

CelResult UnixSecond(const CelArguments& arguments) {
  if (arguments.size() != 1 || !arguments[0].Is(CelValue::Type::kTimestamp)) {
    return cel::NoSuchOverload("UnixSecond", arguments);
  }
  return CelValue::Double(absl::ToDoubleSeconds(arguments[0].AsTime() - absl::UnixEpoch()));
}

GoValue::Map ConditionOf(const char* type, const char* status, const char* reason, const char* message) {
  return {{"type", GoValue(std::string(type))},
          {"status", GoValue(std::string(status))},
          {"reason", GoValue(std::string(reason))},
          {"message", GoValue(std::string(message))}};
}

}  // namespace

GoValue NodeConditions() {
  GoValue::List list;
  list.emplace_back(ConditionOf("Ready", "True", "KubeletReady", "kubelet is posting ready status"));
  list.emplace_back(ConditionOf("MemoryPressure", "False", "KubeletHasSufficientMemory",
                                "kubelet has sufficient memory available"));
  list.emplace_back(
      ConditionOf("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"));
  list.emplace_back(
      ConditionOf("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"));
  list.emplace_back(
      ConditionOf("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"));
  return GoValue(std::move(list));
}

GoTemplateFunctions StageFunctions(StageEnvironment& environment, const Clock& clock, Rng& rng) {
  GoTemplateFunctions functions;
  AddSprigFunctions(clock, rng, functions);
  functions.Add({"Quote", 1, 1, Quote});
  functions.Add({"YAML", 1, 2, Yaml});
  functions.Add({"NodeConditions", 0, 0, [](const GoArguments&) -> GoResult { return NodeConditions(); }});
  for (const EnvironmentFunction& function : kEnvironmentFunctions) {
    functions.Add({function.name, function.argument_count_min, function.argument_count_max,
                   [&environment, name = function.name](const GoArguments& arguments) {
                     return environment.Call(name, arguments);
                   }});
  }
  return functions;
}

const GoTemplateFunctions& KnownStageFunctions() {
  static const GoTemplateFunctions* const kKnown = [] {
    auto* environment = new NoEnvironment();
    auto* rng = new Rng(0);
    return new GoTemplateFunctions(StageFunctions(*environment, *new NoClock(), *rng));
  }();
  return *kKnown;
}

cel::CelFunctions StageCelFunctions(const Clock& clock, Rng& rng) {
  cel::CelFunctions functions;
  const auto now = [&clock](const CelArguments& arguments) -> CelResult {
    if (!arguments.empty()) return cel::NoSuchOverload("Now", arguments);
    return CelValue::Of(clock.Now());
  };
  functions.Add("Now", now);
  functions.Add("now", now);
  functions.Add("Rand", [&rng](const CelArguments& arguments) -> CelResult {
    if (!arguments.empty()) return cel::NoSuchOverload("Rand", arguments);
    return CelValue::Double(static_cast<double>(rng.Next() >> 11) / 9007199254740992.0);
  });
  functions.Add("SinceSecond",
                [&clock](const CelArguments& arguments) { return SinceSecond(clock, arguments); });
  functions.Add("UnixSecond", UnixSecond);
  return functions;
}

const cel::CelFunctions& KnownStageCelFunctions() {
  static const cel::CelFunctions* const kKnown = [] {
    return new cel::CelFunctions(StageCelFunctions(*new NoClock(), *new Rng(0)));
  }();
  return *kKnown;
}

}  // namespace schedsim::sim
