#include "sim/scenario/autoscaler_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "sim/autoscaler/node_companions.h"
#include "sim/formats/object_inspector.h"
#include "sim/scenario/latency_reader.h"
#include "sim/scenario/span_reader.h"
#include "sim/scenario/taint_reader.h"

namespace schedsim::sim {
namespace {

using codec::ErrorList;
using codec::StrictReader;
using codec::Value;

constexpr int64_t kPoolNodesMax = 100'000;
constexpr size_t kPoolNameBytesMax = 50;

// Names of nodes are made of it.
bool IsPoolName(absl::string_view name) {
  const auto is_inner = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); };
  return !name.empty() && name.size() <= kPoolNameBytesMax && is_inner(name.front()) &&
         is_inner(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_inner(c) || c == '-'; });
}

// `root` with the member, in place of the one of its key; new parts belong to `document`.
Value WithMember(const Value& root, absl::string_view key, const Value& value, codec::Document& document) {
  std::vector<codec::Member> members;
  for (const codec::Member& member : root.members) {
    if (member.key != key) members.push_back(member);
  }
  members.push_back({.key = key, .key_position = value.position, .value = value});
  return document.MakeObject(members, root.position);
}

// A template has no name of its own, as those of pods in workloads, but every object needs one.
Value WithName(const Value& node, codec::Document& document) {
  const Value* metadata = node.Find("metadata");
  if (metadata != nullptr && !metadata->is_object() && !metadata->is_null()) return node;
  if (metadata != nullptr && metadata->Find("name") != nullptr) return node;
  Value name = codec::TextValue("template");
  name.position = node.position;
  Value base;
  base.type = Value::Type::kObject;
  base.position = node.position;
  const Value& before = metadata == nullptr || metadata->is_null() ? base : *metadata;
  return WithMember(node, "metadata", WithMember(before, "name", name, document), document);
}

class AutoscalerReader {
 public:
  AutoscalerReader(absl::string_view file, codec::ObjectReader& objects, ErrorList& errors,
                   AutoscalerOptions& options)
      : file_(file), objects_(objects), errors_(errors), options_(options) {}

  absl::Status Read(const Value& value, const std::string& path) {
    StrictReader reader(value, path, errors_);
    if (!value.is_object()) return absl::OkStatus();
    if (path.empty()) {
      reader.Skip("apiVersion");
      reader.Skip("kind");
    }
    ReadInterval(reader);
    ReadExpander(reader);
    ReadScaleDown(reader);
    reader.Read("expendablePodsPriorityCutoff", options_.expendable_pods_priority_cutoff);
    reader.ReadList("nodePools",
                    [this](const Value& item, const std::string& item_path) { ReadPool(item, item_path); });
    const Value* pools = value.Find("nodePools");
    if (pools == nullptr || (pools->is_array() && pools->items.empty()) || pools->is_null()) {
      errors_.Add((pools == nullptr ? value : *pools).position,
                  absl::StrCat(reader.PathOf("nodePools"), ": expected a list of node pools, got none"));
    }
    reader.Finish();
    return status_;
  }

 private:
  void ReadInterval(StrictReader& reader) {
    const Value* given = reader.Take("scanInterval");
    ReadSpan(reader, "scanInterval", errors_, options_.scan_interval);
    if (options_.scan_interval >= absl::Seconds(1) && options_.scan_interval <= absl::Hours(1)) return;
    errors_.Add(given->position,
                absl::StrCat(reader.PathOf("scanInterval"), ": expected a duration from 1s to 1h"));
  }

  void ReadExpander(StrictReader& reader) {
    std::string name = "least-waste";
    reader.Read("expander", name);
    const Value* given = reader.Take("expander");
    if (name == "least-waste") {
      options_.expander = Expander::kLeastWaste;
    } else if (name == "random") {
      options_.expander = Expander::kRandom;
    } else if (name == "priority") {
      options_.expander = Expander::kPriority;
    } else {
      errors_.Add(given->position, absl::StrCat(reader.PathOf("expander"),
                                                ": expected least-waste, random or priority, got \"",
                                                Printable(name, kShownBytesMax), "\""));
    }
  }

  void ReadScaleDown(StrictReader& reader) {
    reader.Read("scaleDownEnabled", options_.scale_down_enabled);
    double& threshold = options_.scale_down_utilization_threshold;
    reader.Read("scaleDownUtilizationThreshold", threshold);
    if (!(threshold >= 0 && threshold <= 1)) {
      errors_.Add(
          reader.Take("scaleDownUtilizationThreshold")->position,
          absl::StrCat(reader.PathOf("scaleDownUtilizationThreshold"), ": expected a number from 0 to 1"));
    }
    ReadSpan(reader, "scaleDownUnneededTime", errors_, options_.scale_down_unneeded_time);
    ReadSpan(reader, "scaleDownDelayAfterAdd", errors_, options_.scale_down_delay_after_add);
    ReadSpan(reader, "scaleDownDelayAfterFailure", errors_, options_.scale_down_delay_after_failure);
    reader.Read("ignoreDaemonSetsUtilization", options_.ignore_daemon_sets_utilization);
  }

  void ReadPool(const Value& value, const std::string& path) {
    StrictReader reader(value, path, errors_);
    if (!value.is_object()) return;
    NodePool pool;
    ReadName(value, reader, pool);
    ReadSize(value, reader, pool);
    reader.Read("priority", pool.priority);
    ReadLatency(reader, "startupDelay", errors_, pool.startup_delay);
    ReadLabels(reader, pool);
    ReadTaints(reader, pool);
    ReadNodes(reader, pool);
    const Value* node_template = reader.Take("template");
    const Value* like = reader.Take("like");
    reader.Finish();
    if ((node_template == nullptr) == (like == nullptr)) {
      errors_.Add(value.position, absl::StrCat(path,
                                               ": expected either template, a Node, or like, the name "
                                               "of a node of the input"));
    } else if (like != nullptr) {
      pool.place = PlaceOf(*like, absl::StrCat(path, ".like"));
      if (like->is_string() && !like->text.empty()) {
        pool.like = std::string(like->text);
      } else {
        errors_.Add(like->position, absl::StrCat(path, ".like: expected the name of a node"));
      }
    } else {
      pool.place = PlaceOf(*node_template, absl::StrCat(path, ".template"));
      ReadTemplate(*node_template, absl::StrCat(path, ".template"), pool);
    }
    options_.pools.push_back(std::move(pool));
  }

  std::string PlaceOf(const Value& value, absl::string_view path) const {
    return std::string(codec::ErrorAt({.file = file_, .position = value.position}, path).message());
  }

  void ReadName(const Value& value, StrictReader& reader, NodePool& pool) {
    reader.Read("name", pool.name);
    const Value* given = reader.Take("name");
    const codec::Position position = (given == nullptr ? value : *given).position;
    if (!IsPoolName(pool.name)) {
      errors_.Add(position, absl::StrCat(reader.PathOf("name"),
                                         ": expected at most 50 lower-case letters, digits and dashes, with "
                                         "a letter or digit at both ends; got \"",
                                         Printable(pool.name, kShownBytesMax), "\""));
    }
    for (const NodePool& other : options_.pools) {
      if (other.name != pool.name) continue;
      errors_.Add(position,
                  absl::StrCat(reader.PathOf("name"), ": expected a name that no other pool has, got \"",
                               Printable(pool.name, kShownBytesMax), "\""));
    }
  }

  void ReadSize(const Value& value, StrictReader& reader, NodePool& pool) {
    reader.Read("min", pool.min);
    reader.Read("max", pool.max);
    const auto position_of = [&](absl::string_view name) {
      const Value* given = reader.Take(name);
      return (given == nullptr ? value : *given).position;
    };
    if (!reader.Has("max") || pool.max < 1 || pool.max > kPoolNodesMax) {
      errors_.Add(position_of("max"),
                  absl::StrCat(reader.PathOf("max"), ": expected a whole number from 1 to ", kPoolNodesMax,
                               ", got ", reader.Has("max") ? absl::StrCat(pool.max) : "none"));
    } else if (pool.min < 0) {
      errors_.Add(position_of("min"),
                  absl::StrCat(reader.PathOf("min"), ": expected a whole number that is not negative"));
    } else if (pool.min > pool.max) {
      errors_.Add(position_of("min"), absl::StrCat(reader.PathOf("min"),
                                                   ": expected a number that is not above "
                                                   "max, got ",
                                                   pool.min, " above ", pool.max));
    }
  }

  void ReadLabels(StrictReader& reader, NodePool& pool) {
    reader.ReadMap("labels", [&](const Value& labels, const std::string& path) {
      for (const codec::Member& member : labels.members) {
        const std::string member_path = absl::StrCat(path, "[", member.key, "]");
        if (member.value.is_string()) {
          CheckLabel(member.key, member.value.text, member.value, member_path, errors_);
          pool.labels.emplace_back(member.key, member.value.text);
        } else {
          errors_.Add(member.value.position,
                      absl::StrCat(member_path, ": expected a string, got ", Describe(member.value.type)));
        }
      }
    });
  }

  void ReadTaints(StrictReader& reader, NodePool& pool) {
    reader.ReadList("taints", [&](const Value& item, const std::string& path) {
      pool.taints.push_back(ReadTaint(item, path, TaintForm::kWhole, errors_));
    });
  }

  void ReadNodes(StrictReader& reader, NodePool& pool) {
    std::optional<std::string> text;
    reader.Read("nodes", text);
    const Value* given = reader.Take("nodes");
    if (!text.has_value() || given == nullptr || !given->is_string()) return;
    absl::StatusOr<LabelSelector> selector = LabelSelector::Parse(*text);
    if (!selector.ok()) {
      errors_.Add(given->position, absl::StrCat(reader.PathOf("nodes"), ": ", selector.status().message()));
    } else if (text->empty()) {
      errors_.Add(given->position,
                  absl::StrCat(reader.PathOf("nodes"), ": expected a selector such as pool=a, got \"\""));
    } else {
      pool.nodes = *std::move(selector);
    }
  }

  void ReadTemplate(const Value& value, const std::string& path, NodePool& pool) {
    if (!value.is_object()) {
      errors_.Add(value.position, absl::StrCat(path, ": expected a Node, got ", Describe(value.type)));
      return;
    }
    codec::Document document;
    const absl::Status read = objects_.ReadValue(
        WithName(value, document), file_, [&](api::ObjectPtr object, const codec::Location&) {
          if (object->kind != api::Kind::kNode) {
            errors_.Add(value.position, absl::StrCat(path, ": expected a Node, got ", object->kind_name));
            return absl::OkStatus();
          }
          if (pool.node_template != nullptr) {
            errors_.Add(value.position, absl::StrCat(path, ": expected one Node, got several"));
            return absl::OkStatus();
          }
          return SetTemplate(static_cast<const api::Node&>(*object), pool);
        });
    status_.Update(read);
    // An empty list has no object at all.
    const bool is_told = !errors_.empty();
    if (read.ok() && pool.node_template == nullptr && !is_told) {
      errors_.Add(value.position, absl::StrCat(path, ": expected a Node"));
    }
  }

  const absl::string_view file_;
  codec::ObjectReader& objects_;
  ErrorList& errors_;
  AutoscalerOptions& options_;
  absl::Status status_;
};

// Whether the document is an autoscaler's.
bool IsAutoscaler(const Value& root) {
  const Value* api_version = root.Find("apiVersion");
  const Value* kind = root.Find("kind");
  return api_version != nullptr && api_version->text == "schedsim/v1" && kind != nullptr &&
         kind->text == "Autoscaler";
}

}  // namespace

absl::Status ReadAutoscaler(const Value& value, const std::string& path, absl::string_view file,
                            codec::ObjectReader& objects, ErrorList& errors, AutoscalerOptions& options) {
  return AutoscalerReader(file, objects, errors, options).Read(value, path);
}

absl::StatusOr<AutoscalerOptions> ReadAutoscalerFile(const std::string& path,
                                                     std::vector<std::string>& warnings) {
  std::string text;
  ASSIGN_OR_RETURN(text, codec::ReadFile(path));
  const std::string file = path == "-" ? "stdin" : path;
  codec::ObjectReader objects;
  ObjectInspector inspector;
  objects.set_inspector([&inspector](const Value& document, absl::string_view api_version,
                                     absl::string_view kind, absl::string_view origin) {
    return inspector.Inspect(document, api_version, kind, origin);
  });
  std::optional<AutoscalerOptions> options;
  const auto read = [&](const codec::Document& document) -> absl::Status {
    if (document.root.is_null()) return absl::OkStatus();
    const codec::Location location = {.file = file, .position = document.root.position};
    if (options.has_value()) return codec::ErrorAt(location, "expected one autoscaler, got another document");
    if (!IsAutoscaler(document.root)) {
      return codec::ErrorAt(location, "expected apiVersion: schedsim/v1 and kind: Autoscaler");
    }
    ErrorList errors(file);
    const absl::Status status = ReadAutoscaler(document.root, "", file, objects, errors, options.emplace());
    RETURN_IF_ERROR(errors.ToStatusByPlace());
    return status;
  };
  RETURN_IF_ERROR(codec::ReadText(std::move(text), file, {.whole_numbers_as_digits = true}, read));
  if (!options.has_value())
    return absl::InvalidArgumentError(absl::StrCat(file, ": expected an autoscaler, got nothing"));
  for (InputWarning& warning : inspector.Warnings()) warnings.push_back(std::move(warning.text));
  return *std::move(options);
}

absl::Status SetLikeTemplates(const std::vector<api::ObjectPtr>& objects, AutoscalerOptions& options) {
  for (NodePool& pool : options.pools) {
    if (pool.like.empty()) continue;
    const auto found = std::find_if(objects.begin(), objects.end(), [&pool](const api::ObjectPtr& object) {
      return object->kind == api::Kind::kNode && object->metadata.name == pool.like;
    });
    if (found == objects.end()) {
      return absl::InvalidArgumentError(absl::StrCat(pool.place,
                                                     ": expected the name of a node of the input, got \"",
                                                     Printable(pool.like, kShownBytesMax), "\""));
    }
    RETURN_IF_ERROR(SetTemplate(static_cast<const api::Node&>(**found), pool));
    pool.lacks = NodeCompanions(objects, pool.like).Text();
  }
  return absl::OkStatus();
}

}  // namespace schedsim::sim
