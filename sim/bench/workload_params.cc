#include "sim/bench/workload_params.h"

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

// More objects than this in one operation are a mistake.
constexpr int64_t kCountMax = 10'000'000;

class Resolver {
 public:
  Resolver(const TestCase& test_case, const WorkloadSpec& workload)
      : test_case_(test_case), workload_(workload) {}

  absl::StatusOr<std::vector<WorkloadStep>> Resolve() {
    std::vector<WorkloadStep> steps;
    for (const WorkloadStep& given : test_case_.steps) {
      WorkloadStep step = given;
      place_ = &given.place;
      RETURN_IF_ERROR(std::visit([this](auto& op) { return Fill(op); }, step.op));
      if (auto* sets = std::get_if<CreatePodSetsOp>(&step.op)) {
        RETURN_IF_ERROR(Unroll(given, *sets, steps));
      } else {
        steps.push_back(std::move(step));
      }
    }
    std::vector<std::string> unused;
    for (const auto& [name, value] : workload_.params) {
      if (used_.count(name) == 0) unused.push_back(name);
    }
    if (unused.empty()) return steps;
    return absl::InvalidArgumentError(absl::StrCat(workload_.place, ": the parameters [",
                                                   absl::StrJoin(unused, " "), "] are defined on workload ",
                                                   workload_.name, ", but unused; expected no typos"));
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(*place_, ": workload ", workload_.name, ": ", what));
  }

  // `param` with its $.
  absl::StatusOr<GoValue> Get(absl::string_view param) {
    const std::string name(param.substr(1));
    used_.insert(name);
    const auto found = workload_.params.find(name);
    if (found != workload_.params.end()) return found->second;
    return Error(absl::StrCat("parameter ", name, " is undefined"));
  }

  absl::Status WrongType(absl::string_view param, const GoValue& value, absl::string_view expected) const {
    return Error(absl::StrCat("parameter ", param.substr(1), " has the wrong type ", value.TypeName(),
                              ", expected ", expected));
  }

  absl::Status FillCount(Parameterized<int64_t>& count) {
    if (!count.param.empty()) RETURN_IF_ERROR(GetCount(count.param, count.value));
    if (count.value <= kCountMax) return absl::OkStatus();
    return Error(absl::StrCat("a count of ", count.value, ", expected at most ", kCountMax));
  }

  absl::Status GetCount(absl::string_view param, int64_t& target) {
    GoValue value;
    ASSIGN_OR_RETURN(value, Get(param));
    const double* number = value.AsFloat();
    if (number == nullptr || !(*number >= 0 && *number <= kCountMax)) {
      return WrongType(param, value, absl::StrCat("a number from 0 to ", kCountMax));
    }
    target = static_cast<int64_t>(*number);
    return absl::OkStatus();
  }

  absl::Status FillDuration(Parameterized<absl::Duration>& duration) {
    if (!duration.param.empty()) {
      GoValue value;
      ASSIGN_OR_RETURN(value, Get(duration.param));
      const std::optional<absl::Duration> span =
          value.AsString() == nullptr ? std::nullopt : api::ParseGoDuration(*value.AsString());
      if (!span.has_value()) return WrongType(duration.param, value, "a duration such as 10s");
      duration.value = *span;
    }
    if (duration.value >= absl::ZeroDuration() && duration.value <= absl::Hours(24 * 365))
      return absl::OkStatus();
    return Error(absl::StrCat("a duration of ", api::FormatGoDuration(duration.value),
                              ", expected one from 0s to a year"));
  }

  absl::Status FillBool(Parameterized<bool>& truth) {
    if (truth.param.empty()) return absl::OkStatus();
    GoValue value;
    ASSIGN_OR_RETURN(value, Get(truth.param));
    if (value.AsBool() == nullptr) return WrongType(truth.param, value, "true or false");
    truth.value = *value.AsBool();
    return absl::OkStatus();
  }

  // Text `$name|default` stands for a parameter; the default, in YAML, for one that is not there.
  absl::Status FillTemplate(TemplateParams& params) {
    for (auto& [key, value] : params) {
      const std::string* text = value.AsString();
      if (text == nullptr || !absl::StartsWith(*text, "$")) continue;
      std::string param = *text;
      const size_t bar = param.find('|');
      std::optional<std::string> fallback;
      if (bar != std::string::npos && bar > 1) {
        fallback = param.substr(bar + 1);
        param.resize(bar);
      }
      if (fallback.has_value() && workload_.params.count(param.substr(1)) == 0) {
        ASSIGN_OR_RETURN(value, ReadDefault(*fallback));
      } else {
        ASSIGN_OR_RETURN(value, Get(param));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<GoValue> ReadDefault(const std::string& yaml) const {
    GoValue value;
    const absl::Status status =
        codec::ReadText(yaml, "default.yaml", {}, [&](const codec::Document& document) {
          value = GoValueOf(document.root);
          return absl::OkStatus();
        });
    if (status.ok()) return value;
    return Error(absl::StrCat("the default ", api::GoQuote(yaml), " is no YAML: ", status.message()));
  }

  absl::Status Fill(CreateNodesOp& op) {
    RETURN_IF_ERROR(FillCount(op.count));
    return FillTemplate(op.template_params);
  }
  absl::Status Fill(CreateNamespacesOp& op) { return FillCount(op.count); }
  absl::Status Fill(CreatePodsOp& op) {
    RETURN_IF_ERROR(FillCount(op.count));
    if (!op.count_multiplier_param.empty()) {
      int64_t multiplier = 0;
      RETURN_IF_ERROR(GetCount(op.count_multiplier_param, multiplier));
      op.count = {.value = op.count.value * multiplier, .param = ""};
      RETURN_IF_ERROR(FillCount(op.count));
    }
    RETURN_IF_ERROR(FillCount(op.signature_batch_size));
    if (op.signature_batch_size.value == 0) op.signature_batch_size.value = 1;
    RETURN_IF_ERROR(FillDuration(op.duration));
    RETURN_IF_ERROR(FillBool(op.steady_state));
    RETURN_IF_ERROR(FillTemplate(op.template_params));
    if (op.template_path.empty()) op.template_path = test_case_.default_pod_template_path;
    if (op.steady_state.value && op.skip_wait_to_completion) {
      return Error("skipWaitToCompletion and steadyState cannot be true at the same time");
    }
    if (op.steady_state.value && op.duration.value <= absl::ZeroDuration()) {
      return Error("when creating pods in a steady state, the test duration must be > 0");
    }
    return absl::OkStatus();
  }
  absl::Status Fill(CreatePodSetsOp& op) { return FillCount(op.count); }
  absl::Status Fill(AnyObjectOp& op) {
    RETURN_IF_ERROR(FillCount(op.count));
    return FillTemplate(op.template_params);
  }
  absl::Status Fill(SleepOp& op) { return FillDuration(op.duration); }
  absl::Status Fill(UnsimulatedOp& op) {
    for (const std::string& param : op.params) used_.insert(param.substr(1, param.find('|') - 1));
    return absl::OkStatus();
  }
  template <typename Op>
  absl::Status Fill(Op&) {
    return absl::OkStatus();
  }

  absl::Status Unroll(const WorkloadStep& given, const CreatePodSetsOp& sets,
                      std::vector<WorkloadStep>& steps) {
    for (int64_t i = 0; i < sets.count.value; ++i) {
      CreatePodsOp pods = sets.pods;
      pods.name_space = absl::StrCat(sets.namespace_prefix, "-", i);
      RETURN_IF_ERROR(Fill(pods));
      steps.push_back({.opcode = given.opcode, .op = std::move(pods), .place = given.place});
    }
    return absl::OkStatus();
  }

  const TestCase& test_case_;
  const WorkloadSpec& workload_;
  const std::string* place_ = nullptr;  // Of the operation at hand.
  std::set<std::string> used_;
};

}  // namespace

absl::StatusOr<std::vector<WorkloadStep>> ResolveSteps(const TestCase& test_case,
                                                       const WorkloadSpec& workload) {
  return Resolver(test_case, workload).Resolve();
}

}  // namespace schedsim::sim
