#include "sim/bench/workload_check.h"

#include <map>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/api/quantity.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/objects.h"
#include "sim/bench/object_template.h"

namespace schedsim::sim {
namespace {

class Checker {
 public:
  absl::Status Check(const WorkloadOp& op) {
    return std::visit([this](const auto& some_op) { return CheckOp(some_op); }, op);
  }

 private:
  absl::Status CheckTemplate(const std::string& path, ObjectTemplate::Reading reading,
                             const TemplateParams& params, int64_t count) {
    if (path.empty() || count == 0) return absl::OkStatus();
    absl::StatusOr<ObjectTemplate> source = ObjectTemplate::Load(path, reading, objects_);
    if (!source.ok()) return source.status();
    return source->Make(params, 0, count).status();
  }

  absl::Status CheckOp(const UnsimulatedOp& op) { return absl::UnimplementedError(op.why); }
  absl::Status CheckOp(const CreateNodesOp& op) {
    if (const auto* strategy = std::get_if<NodeAllocatableStrategy>(&op.strategy)) {
      for (const auto& [resource, text] : strategy->node_allocatable) {
        const absl::Status status = api::Quantity::Parse(text).status();
        if (status.ok()) continue;
        return absl::InvalidArgumentError(
            absl::StrCat("nodeAllocatableStrategy.nodeAllocatable.", resource, ": ", status.message()));
      }
    }
    return CheckTemplate(op.template_path, {}, op.template_params, op.count.value);
  }
  absl::Status CheckOp(const CreateNamespacesOp& op) {
    return CheckTemplate(op.template_path, {.is_template = false}, {}, op.count.value);
  }
  absl::Status CheckOp(const CreatePodsOp& op) {
    RETURN_IF_ERROR(CheckTemplate(op.template_path, {}, op.template_params, op.count.value));
    RETURN_IF_ERROR(CheckTemplate(op.claim_template_path, {.is_template = false}, {}, op.count.value));
    return CheckTemplate(op.volume_template_path, {.is_template = false}, {}, op.count.value);
  }
  absl::Status CheckOp(const ChurnOp& op) {
    for (const std::string& path : op.template_paths) {
      RETURN_IF_ERROR(CheckTemplate(path, {.is_template = false, .is_typed = false}, {}, 1));
    }
    return absl::OkStatus();
  }
  absl::Status CheckOp(const AnyObjectOp& op) {
    for (const std::string& subresource : op.subresources) {
      if (subresource == "resize" && op.subresources.size() == 1) continue;
      return absl::UnimplementedError(absl::StrCat("subresource ", subresource, " is not simulated"));
    }
    return CheckTemplate(op.template_path, ReadingOf(op), op.template_params, op.count.value);
  }
  template <typename Op>
  absl::Status CheckOp(const Op&) {
    return absl::OkStatus();
  }

  codec::ObjectReader objects_;
};

}  // namespace

absl::Status CheckSteps(const std::vector<WorkloadStep>& steps) {
  Checker checker;
  std::string checked;  // Sets of pods stand for many operations of one place.
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].place == checked) continue;
    checked = steps[i].place;
    const absl::Status status = checker.Check(steps[i].op);
    if (status.ok()) continue;
    return absl::Status(status.code(), absl::StrCat(steps[i].place, ": op ", i, " (", steps[i].opcode,
                                                    "): ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace schedsim::sim
