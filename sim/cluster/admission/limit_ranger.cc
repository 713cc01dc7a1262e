#include "sim/cluster/admission/limit_ranger.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/api/quantity_text.h"
#include "core/api/storage.h"
#include "core/base/status_macros.h"
#include "sim/cluster/admission/pod_amounts.h"
#include "sim/cluster/admission/policy_json.h"

namespace schedsim::sim {
namespace {

// Upstream compares thousandths where all values in them fit into 64 bits.
constexpr int64_t kMilliComparableMax = std::numeric_limits<int64_t>::max() / 1000;

// What is compared with what, and how it is called.
struct Subject {
  absl::string_view type;
  const api::ResourceList& requests;
  const api::ResourceList& limits;
};

// A request, a limit and a bound in one unit; what is absent is 0.
struct Comparable {
  Comparable(const api::Quantity* request_in, const api::Quantity* limit_in, const api::Quantity& bound_in) {
    const api::Quantity none;
    const api::Quantity& request_or_none = request_in == nullptr ? none : *request_in;
    const api::Quantity& limit_or_none = limit_in == nullptr ? none : *limit_in;
    const bool is_fine =
        std::max({request_or_none.Value(), limit_or_none.Value(), bound_in.Value()}) <= kMilliComparableMax;
    const auto value = [is_fine](const api::Quantity& quantity) {
      return is_fine ? quantity.MilliValue() : quantity.Value();
    };
    request = value(request_or_none);
    limit = value(limit_or_none);
    bound = value(bound_in);
  }
  int64_t request = 0;
  int64_t limit = 0;
  int64_t bound = 0;
};

// Each returns what is wrong; "": nothing.
std::string MinFault(const Subject& subject, const std::string& name, const api::Quantity& bound) {
  const api::Quantity* request = subject.requests.Find(name);
  const api::Quantity* limit = subject.limits.Find(name);
  const Comparable values(request, limit, bound);
  const std::string rule =
      absl::StrCat("minimum ", name, " usage per ", subject.type, " is ", api::AmountText(name, bound));
  if (request == nullptr) return absl::StrCat(rule, ".  No request is specified");
  if (values.request < values.bound)
    return absl::StrCat(rule, ", but request is ", api::AmountText(name, *request));
  if (limit != nullptr && values.limit < values.bound)
    return absl::StrCat(rule, ", but limit is ", api::AmountText(name, *limit));
  return "";
}

std::string MaxFault(const Subject& subject, const std::string& name, const api::Quantity& bound) {
  const api::Quantity* request = subject.requests.Find(name);
  const api::Quantity* limit = subject.limits.Find(name);
  const Comparable values(request, limit, bound);
  const std::string rule =
      absl::StrCat("maximum ", name, " usage per ", subject.type, " is ", api::AmountText(name, bound));
  if (limit == nullptr) return absl::StrCat(rule, ".  No limit is specified");
  if (values.limit > values.bound)
    return absl::StrCat(rule, ", but limit is ", api::AmountText(name, *limit));
  if (request != nullptr && values.request > values.bound)
    return absl::StrCat(rule, ", but request is ", api::AmountText(name, *request));
  return "";
}

std::string MaxRequestFault(const Subject& subject, const std::string& name, const api::Quantity& bound) {
  const api::Quantity* request = subject.requests.Find(name);
  const Comparable values(request, nullptr, bound);
  const std::string rule =
      absl::StrCat("maximum ", name, " usage per ", subject.type, " is ", api::AmountText(name, bound));
  if (request == nullptr) return absl::StrCat(rule, ".  No request is specified");
  if (values.request > values.bound)
    return absl::StrCat(rule, ", but request is ", api::AmountText(name, *request));
  return "";
}

std::string RatioFault(const Subject& subject, const std::string& name, const api::Quantity& bound) {
  const api::Quantity* request = subject.requests.Find(name);
  const api::Quantity* limit = subject.limits.Find(name);
  const Comparable values(request, limit, bound);
  const std::string rule = absl::StrCat(name, " max limit to request ratio per ", subject.type, " is ",
                                        api::AmountText(name, bound));
  if (request == nullptr || values.request == 0)
    return absl::StrCat(rule, ", but no request is specified or request is 0");
  if (limit == nullptr || values.limit == 0)
    return absl::StrCat(rule, ", but no limit is specified or limit is 0");
  const double ratio = static_cast<double>(values.limit) / static_cast<double>(values.request);
  const bool is_fine = bound.Value() <= kMilliComparableMax;
  const double compared = is_fine ? ratio * 1000 : ratio;
  const auto most = static_cast<double>(is_fine ? bound.MilliValue() : bound.Value());
  if (compared <= most) return "";
  return absl::StrCat(rule, ", but provided ratio is ", absl::StrFormat("%f", ratio));
}

// Collects faults, each text once, in the order in which they were found.
class RangeFaults {
 public:
  using Check = std::string (*)(const Subject& subject, const std::string& name, const api::Quantity& bound);

  void Add(const Subject& subject, const api::ResourceList& bounds, Check check) {
    for (const auto& [name, bound] : bounds) {
      std::string fault = check(subject, name, bound);
      if (fault.empty() || std::find(list_.begin(), list_.end(), fault) != list_.end()) continue;
      list_.push_back(std::move(fault));
    }
  }

  // A refusal with all of them; in brackets where there are several.
  absl::Status ToStatus() const {
    if (list_.empty()) return absl::OkStatus();
    if (list_.size() == 1) return absl::PermissionDeniedError(list_[0]);
    return absl::PermissionDeniedError(absl::StrCat("[", absl::StrJoin(list_, ", "), "]"));
  }

 private:
  std::vector<std::string> list_;
};

// Returns the names of those that were missing, in order.
std::vector<std::string> SetMissing(const api::ResourceList& defaults, api::ResourceList& list) {
  std::vector<std::string> names;
  for (const auto& [name, quantity] : defaults) {
    if (list.Find(name) != nullptr) continue;
    list[name] = quantity;
    names.push_back(name);
  }
  return names;
}

// The same for a container. Adds what was set to `notes`: "cpu, memory request for container app".
void SetMissing(const api::ResourceRequirements& defaults, absl::string_view what, api::Container& container,
                std::vector<std::string>& notes) {
  const auto note = [&](const std::vector<std::string>& names, absl::string_view list) {
    if (names.empty()) return;
    notes.push_back(absl::StrCat(absl::StrJoin(names, ", "), " ", list, " for ", what, " ", container.name));
  };
  note(SetMissing(defaults.requests, container.resources.requests), "request");
  note(SetMissing(defaults.limits, container.resources.limits), "limit");
}

}  // namespace

bool LimitRangerPlugin::OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Object& object = new_object != nullptr ? *new_object : *old_object;
  const bool is_range =
      object.kind == api::Kind::kOther && object.kind_name == "LimitRange" && object.api_version == "v1";
  if (!is_range) return false;
  Ranges& ranges = ranges_[object.metadata.namespace_];
  if (new_object == nullptr) {
    ranges.erase(object.metadata.name);
    if (ranges.empty()) ranges_.erase(object.metadata.namespace_);
    return true;
  }
  Limits limits;
  ReadPolicy(object, [&limits](const codec::Value& root) { limits = LimitRangeItems(root); });
  ranges[object.metadata.name] = std::move(limits);
  return true;
}

const LimitRangerPlugin::Ranges* LimitRangerPlugin::Find(absl::string_view name_space) const {
  if (ranges_.empty()) return nullptr;
  const auto found = ranges_.find(std::string(name_space));
  return found == ranges_.end() ? nullptr : &found->second;
}

const void* LimitRangerPlugin::RulesOf(absl::string_view name_space) const { return Find(name_space); }

absl::Status LimitRangerPlugin::MutateSpec(absl::string_view name_space, api::PodSpec& spec) const {
  SetDefaults(name_space, spec);
  return absl::OkStatus();
}

std::string LimitRangerPlugin::AnnotationFor(absl::string_view name_space, const api::PodSpec& spec) const {
  if (Find(name_space) == nullptr) return "";
  api::PodSpec completed = spec;
  return SetDefaults(name_space, completed);
}

std::string LimitRangerPlugin::SetDefaults(absl::string_view name_space, api::PodSpec& spec) const {
  std::string annotation;
  const Ranges* ranges = Find(name_space);
  if (ranges == nullptr) return annotation;
  for (const auto& [name, limits] : *ranges) {
    // Of several entries of one range the last one counts.
    api::ResourceRequirements defaults;
    for (const LimitRangeItem& limit : limits) {
      if (limit.type != "Container") continue;
      for (const auto& [resource, amount] : limit.default_limits) defaults.limits[resource] = amount;
      for (const auto& [resource, amount] : limit.default_requests) defaults.requests[resource] = amount;
    }
    std::vector<std::string> notes;
    for (api::Container& container : spec.containers) SetMissing(defaults, "container", container, notes);
    for (api::Container& container : spec.init_containers)
      SetMissing(defaults, "init container", container, notes);
    // Each range writes over what the one before it has written.
    if (!notes.empty()) annotation = absl::StrCat("LimitRanger plugin set: ", absl::StrJoin(notes, "; "));
  }
  return annotation;
}

absl::Status LimitRangerPlugin::ValidateSpec(absl::string_view name_space, const api::PodSpec& spec) const {
  const Ranges* ranges = Find(name_space);
  if (ranges == nullptr) return absl::OkStatus();
  for (const auto& [name, limits] : *ranges) {
    RangeFaults faults;
    for (const LimitRangeItem& limit : limits) {
      const auto check = [&](const Subject& subject) {
        faults.Add(subject, limit.min, MinFault);
        faults.Add(subject, limit.max, MaxFault);
        faults.Add(subject, limit.max_ratio, RatioFault);
      };
      if (limit.type == "Container") {
        for (const auto* containers : {&spec.containers, &spec.init_containers}) {
          for (const api::Container& container : *containers)
            check({limit.type, container.resources.requests, container.resources.limits});
        }
      } else if (limit.type == "Pod") {
        const api::ResourceRequirements sums = PodAmounts(spec);
        check({limit.type, sums.requests, sums.limits});
      }
    }
    RETURN_IF_ERROR(faults.ToStatus());
  }
  return absl::OkStatus();
}

absl::Status LimitRangerPlugin::Validate(const api::Object& object) const {
  if (object.kind != api::Kind::kPersistentVolumeClaim) return absl::OkStatus();
  const Ranges* ranges = Find(object.metadata.namespace_);
  if (ranges == nullptr) return absl::OkStatus();
  const auto& claim = static_cast<const api::PersistentVolumeClaim&>(object);
  for (const auto& [name, limits] : *ranges) {
    RangeFaults faults;
    for (const LimitRangeItem& limit : limits) {
      if (limit.type != "PersistentVolumeClaim") continue;
      const api::ResourceList no_limits;
      const Subject subject = {limit.type, claim.spec.requests, no_limits};
      faults.Add(subject, limit.min, MinFault);
      faults.Add(subject, limit.max, MaxRequestFault);
    }
    RETURN_IF_ERROR(faults.ToStatus());
  }
  return absl::OkStatus();
}

}  // namespace schedsim::sim
