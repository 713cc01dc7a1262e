#include "sim/stages/usage.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/api/pod.h"
#include "core/base/status_macros.h"
#include "core/codec/config/strict_reader.h"
#include "sim/stages/kwok_object.h"
#include "sim/stages/stage_functions.h"

namespace schedsim::sim {
namespace {

using cel::CelValue;
using codec::StrictReader;
using codec::Value;

constexpr size_t kWarningsMax = 20;

class RuleReader {
 public:
  explicit RuleReader(codec::ErrorList& errors) : errors_(errors) {}

  void Read(const Value& root, UsageRule& rule) {
    StrictReader reader(root, "", errors_);
    KwokObjectHead head = ReadKwokObjectHead(root, reader, errors_);
    rule.is_of_one_pod = head.kind == "ResourceUsage";
    rule.name = std::move(head.name);
    rule.name_space = head.name_space.empty() ? "default" : std::move(head.name_space);
    reader.ReadMap("spec", [&](const Value& value, const std::string& path) { ReadSpec(value, path, rule); });
    reader.Finish();
  }

 private:
  void ReadSpec(const Value& value, const std::string& path, UsageRule& rule) {
    StrictReader reader(value, path, errors_);
    if (!rule.is_of_one_pod) {
      reader.ReadMap("selector", [&](const Value& item, const std::string& below) {
        StrictReader selector(item, below, errors_);
        selector.ReadStrings("matchNamespaces", rule.match_namespaces);
        selector.ReadStrings("matchNames", rule.match_names);
        selector.Finish();
      });
    }
    reader.ReadList("usages", [&](const Value& item, const std::string& below) {
      StrictReader entry(item, below, errors_);
      UsageEntry& read = rule.entries.emplace_back();
      entry.ReadStrings("containers", read.containers);
      entry.ReadMap("usage", [&](const Value& uses, const std::string& uses_path) {
        for (const codec::Member& member : uses.members) {
          ReadUse(member, absl::StrCat(uses_path, ".", member.key), read.uses.emplace_back());
        }
      });
      entry.Finish();
    });
    reader.Finish();
  }

  void ReadUse(const codec::Member& member, const std::string& path, ResourceUse& use) {
    use.resource = std::string(member.key);
    StrictReader reader(member.value, path, errors_);
    const Value* value = reader.Take("value");
    std::string expression;
    reader.Read("expression", expression);
    const Value* expression_value = reader.Take("expression");
    reader.Finish();
    if (value != nullptr) {
      const absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(value->text);
      if (quantity.ok()) {
        use.value = *quantity;
      } else {
        errors_.Add(value->position, absl::StrCat(path, ".value: ", quantity.status().message()));
      }
    }
    if (expression_value == nullptr) {
      if (value == nullptr)
        errors_.Add(member.value.position, absl::StrCat(path, ": expected value or expression"));
      return;
    }
    absl::StatusOr<cel::CelProgram> program =
        cel::CelProgram::Parse(expression, KnownStageCelFunctions(), {"node", "pod", "container"});
    if (program.ok()) {
      use.expression = *std::move(program);
      return;
    }
    errors_.Add(expression_value->position, absl::StrCat(path, ".expression: ", program.status().message(),
                                                         ", in ", api::GoQuote(expression)));
  }

  codec::ErrorList& errors_;
};

bool Matches(const std::vector<std::string>& list, absl::string_view text) {
  return list.empty() || std::find(list.begin(), list.end(), text) != list.end();
}

// The entry that names the container, or else the first one for all.
const UsageEntry* EntryFor(const UsageRule& rule, absl::string_view container) {
  const UsageEntry* found = nullptr;
  for (const UsageEntry& entry : rule.entries) {
    if (entry.containers.empty()) {
      if (found == nullptr) found = &entry;
    } else if (Matches(entry.containers, container)) {
      return &entry;
    }
  }
  return found;
}

std::string NameOf(const CelValue& container) {
  const CelValue* name = container.Find("name");
  return name == nullptr ? "" : name->AsString();
}

}  // namespace

CelValue::List ContainersOf(const StageObject& pod) {
  const CelValue* spec = pod.cel().Find("spec");
  const CelValue* containers = spec == nullptr ? nullptr : spec->Find("containers");
  return containers == nullptr ? CelValue::List() : containers->AsList();
}

absl::StatusOr<double> UsageNumber(const cel::CelResult& result) {
  if (!result.ok()) return result.status();
  if (result->Number().has_value()) return *result->Number();
  if (result->Is(CelValue::Type::kQuantity)) {
    return static_cast<double>(result->AsQuantity().NanoValue()) / 1e9;
  }
  if (result->Is(CelValue::Type::kBool)) return result->AsBool() ? 1 : 0;
  if (result->Is(CelValue::Type::kDuration)) {
    return static_cast<double>(absl::ToInt64Nanoseconds(result->AsDuration()));
  }
  return absl::InvalidArgumentError(absl::StrCat("expected a number, got ", result->TypeName()));
}

absl::StatusOr<UsageRule> ReadUsageRule(const Value& document, absl::string_view file) {
  codec::ErrorList errors(file);
  UsageRule rule;
  RuleReader(errors).Read(document, rule);
  RETURN_IF_ERROR(errors.ToStatus());
  return rule;
}

UsageMeter::UsageMeter(std::vector<UsageRule> rules, const Clock& clock, const Rng& rng,
                       const ApiServer& server)
    : rules_(std::move(rules)),
      clock_(clock),
      rng_(rng.Fork("stages/usage")),
      server_(server),
      functions_(StageCelFunctions(clock_, rng_)) {}

std::vector<std::string> UsageMeter::Resources() const {
  std::set<std::string> resources;
  for (const UsageRule& rule : rules_) {
    for (const UsageEntry& entry : rule.entries) {
      for (const ResourceUse& use : entry.uses) resources.insert(use.resource);
    }
  }
  return {resources.begin(), resources.end()};
}

const ResourceUse* UsageMeter::FindUse(const api::Object& pod, absl::string_view container,
                                       absl::string_view resource) const {
  const api::ObjectMeta& meta = pod.metadata;
  const UsageEntry* entry = nullptr;
  for (const UsageRule& rule : rules_) {
    if (!rule.is_of_one_pod || rule.name != meta.name || rule.name_space != meta.namespace_) continue;
    entry = EntryFor(rule, container);
    if (entry == nullptr) return nullptr;
    break;
  }
  for (const UsageRule& rule : rules_) {
    const bool matches = entry == nullptr && !rule.is_of_one_pod &&
                         Matches(rule.match_namespaces, meta.namespace_) &&
                         Matches(rule.match_names, meta.name);
    if (matches) entry = EntryFor(rule, container);
  }
  if (entry == nullptr) return nullptr;
  for (const ResourceUse& use : entry->uses) {
    if (use.resource == resource) return &use;
  }
  return nullptr;
}

const StageObject& UsageMeter::Read(const api::Object& object) {
  auto& [version, read] = read_[absl::StrCat(api::KindName(object.kind), "/", object.Key())];
  if (read == nullptr || version != object.metadata.resource_version) {
    read = std::make_unique<StageObject>(object);
    version = object.metadata.resource_version;
  }
  return *read;
}

double UsageMeter::Evaluate(const ResourceUse& use, const api::Object& pod, absl::string_view container) {
  const StageObject& seen = Read(pod);
  cel::CelVariables variables = {{"pod", seen.cel()}};
  for (const CelValue& candidate : ContainersOf(seen)) {
    if (NameOf(candidate) == container) variables.emplace_back("container", candidate);
  }
  const std::string& node_name = static_cast<const api::Pod&>(pod).node_name;
  const api::ObjectPtr node = server_.Find(api::Kind::kNode, "Node", "", node_name);
  if (node != nullptr) variables.emplace_back("node", Read(*node).cel());
  const absl::StatusOr<double> number = UsageNumber(use.expression->Evaluate(variables, functions_));
  if (number.ok()) return *number;
  const std::string what = absl::StrCat("usage of ", use.resource, ": ", number.status().message());
  const bool is_new = std::find(warnings_.begin(), warnings_.end(), what) == warnings_.end();
  if (is_new && warnings_.size() < kWarningsMax) warnings_.push_back(what);
  return 0;
}

double UsageMeter::OfContainer(const api::Object& pod, absl::string_view container,
                               absl::string_view resource) {
  const ResourceUse* use = FindUse(pod, container, resource);
  if (use == nullptr) return 0;
  if (use->value.has_value()) return static_cast<double>(use->value->NanoValue()) / 1e9;
  return Evaluate(*use, pod, container);
}

double UsageMeter::OfPod(const api::Object& pod, absl::string_view resource) {
  double sum = 0;
  for (const CelValue& container : ContainersOf(Read(pod))) {
    sum += OfContainer(pod, NameOf(container), resource);
  }
  return sum;
}

std::map<std::string, std::vector<double>> UsageMeter::OfNodes() {
  const std::vector<std::string> resources = Resources();
  std::map<std::string, std::vector<double>> sums;
  for (const auto& [name, node] : server_.List(api::Kind::kNode)) sums[name].resize(resources.size());
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    const auto sum = sums.find(static_cast<const api::Pod&>(*object).node_name);
    if (sum == sums.end()) continue;
    for (size_t i = 0; i < resources.size(); ++i) sum->second[i] += OfPod(*object, resources[i]);
  }
  return sums;
}

void UsageTable::Start() {
  Sample();
  loop_.AtInBackground(loop_.Now() + interval_, EventLoop::Phase::kStep, [this] { Start(); });
}

void UsageTable::Sample() {
  const double seconds = absl::ToDoubleSeconds(loop_.Now() - zero_);
  for (const auto& [name, uses] : meter_.OfNodes()) {
    absl::StrAppendFormat(&rows_, "%.15g,%s", seconds, name);
    for (const double use : uses) absl::StrAppendFormat(&rows_, ",%.15g", use);
    rows_ += '\n';
  }
}

std::string UsageTable::Csv() const {
  std::string header = "time,node";
  for (const std::string& resource : meter_.Resources()) absl::StrAppend(&header, ",", resource);
  return absl::StrCat(header, "\n", rows_);
}

}  // namespace schedsim::sim
