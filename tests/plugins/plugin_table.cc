#include "tests/plugins/plugin_table.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/api/default_profile.h"
#include "core/api/kubernetes_version.h"
#include "core/base/status_macros.h"
#include "sim/record/record_reader.h"
#include "sim/record/records.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

// ---- YAML to JSON ----

bool IsDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// A plain scalar: null, a bool, a decimal number, or text.
Json PlainScalar(const std::string& text) {
  if (text.empty() || text == "null" || text == "~") return nullptr;
  if (text == "true" || text == "false") return text == "true";
  const absl::string_view digits = absl::StripPrefix(text, "-");
  const bool has_leading_zero = digits.size() > 1 && digits[0] == '0' && absl::ascii_isdigit(digits[1]);
  const std::vector<std::string> parts = absl::StrSplit(digits, '.');
  int64_t integer = 0;
  if (IsDigits(digits) && !has_leading_zero && absl::SimpleAtoi(text, &integer)) return integer;
  double number = 0;
  if (parts.size() == 2 && IsDigits(parts[0]) && IsDigits(parts[1]) && absl::SimpleAtod(text, &number))
    return number;
  return text;
}

// Tables are written here and not deep: recursion is fine.
Json JsonOf(const YAML::Node& node) {  // NOLINT(misc-no-recursion)
  if (node.IsScalar()) return node.Tag() == "?" ? PlainScalar(node.Scalar()) : Json(node.Scalar());
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const YAML::Node& item : node) list.push_back(JsonOf(item));
    return list;
  }
  if (!node.IsMap()) return nullptr;
  Json map = Json::object();
  Json merged = Json::object();
  for (const auto& member : node) {
    Json value = JsonOf(member.second);
    if (member.first.Scalar() == "<<") {
      merged.update(value);
    } else {
      map[member.first.Scalar()] = std::move(value);
    }
  }
  for (auto& [key, value] : merged.items()) {
    if (!map.contains(key)) map[key] = value;
  }
  return map;
}

// ---- Short form to Kubernetes objects ----

const std::set<std::string> kMetadata = {
    "name",       "namespace",         "labels",           "annotations", "uid", "ownerReferences",
    "generation", "creationTimestamp", "deletionTimestamp"};
const std::set<std::string> kNodeSpec = {"taints", "unschedulable", "podCIDR", "providerID"};

// The whole object: members that are in neither `kMetadata` nor `spec_members` go to `rest`.
Json WholeObject(const Json& brief, const char* kind, const std::set<std::string>& spec_members,
                 const char* rest) {
  Json object = {{"apiVersion", "v1"}, {"kind", kind}};
  for (const char* part : {"metadata", "spec", "status"}) object[part] = brief.value(part, Json::object());
  for (const auto& [key, value] : brief.items()) {
    if (object.contains(key)) continue;
    object[kMetadata.contains(key) ? "metadata" : spec_members.contains(key) ? "spec" : rest][key] = value;
  }
  return object;
}

Json WholeNode(const Json& brief) {
  Json node = WholeObject(brief, "Node", kNodeSpec, "status");
  Json& status = node["status"];
  if (!status.contains("allocatable")) status["allocatable"] = {{"cpu", 4}, {"memory", "8Gi"}, {"pods", 110}};
  return node;
}

Json WholePod(Json brief) {
  Json container = {{"name", "c"}, {"image", "app"}};
  for (const char* list : {"requests", "limits"}) {
    if (brief.contains(list)) container["resources"][list] = brief[list];
    brief.erase(list);
  }
  if (brief.contains("ports")) container["ports"] = brief["ports"];
  brief.erase("ports");
  Json pod = WholeObject(brief, "Pod", {}, "spec");
  if (!pod["metadata"].contains("name")) pod["metadata"]["name"] = "pod";
  if (!pod["metadata"].contains("namespace")) pod["metadata"]["namespace"] = "default";
  if (!pod["spec"].contains("containers")) pod["spec"]["containers"] = Json::array({container});
  return pod;
}

Json CaseOf(const Json& row, const std::string& plugin, const Json& pod) {
  // Long enough for a first attempt of every pod, too short for a second one.
  Json result = {{"name", row["name"]}, {"end", 0.5}};
  Json config = row.value("config", Json());
  if (row.contains("args")) {
    const Json plugin_config = Json::array({{{"name", plugin}, {"args", row["args"]}}});
    config["profiles"] =
        Json::array({{{"schedulerName", "default-scheduler"}, {"pluginConfig", plugin_config}}});
  }
  if (!config.is_null()) {
    config["apiVersion"] = "kubescheduler.config.k8s.io/v1";
    config["kind"] = "KubeSchedulerConfiguration";
    result["config"] = config;
  }
  if (row.contains("gates")) result["featureGates"] = row["gates"];
  Json objects = row.value("objects", Json::array());
  for (const Json& node : row.value("nodes", Json::array())) objects.push_back(WholeNode(node));
  for (const Json& other : row.value("pods", Json::array())) objects.push_back(WholePod(other));
  objects.push_back(pod);
  result["objects"] = objects;
  return result;
}

// ---- Rows ----

// "a NoSchedule taint" as "ANoScheduleTaint".
std::string CamelCase(absl::string_view text) {
  std::string result;
  bool starts_word = true;
  for (const char c : text) {
    if (absl::ascii_isalnum(c)) result += starts_word ? absl::ascii_toupper(c) : c;
    starts_word = !absl::ascii_isalnum(c);
  }
  return result;
}

std::vector<std::string> VersionsOf(const Json& row) {
  const Json version = row.value("version", Json("1.37"));
  return version.is_array() ? version.get<std::vector<std::string>>()
                            : std::vector{version.get<std::string>()};
}

// What a row wants of a line; null: nothing is said.
Json WantOf(const Json& row, const std::string& version) {
  if (row.contains("want")) return row["want"];
  const Json wants = row.value("wants", Json::object());
  for (const auto& [lines, want] : wants.items()) {
    for (const absl::string_view line : absl::StrSplit(lines, ' ')) {
      if (line == version) return want;
    }
  }
  return nullptr;
}

const std::set<std::string> kRowKeys = {"name",    "version", "args", "config", "gates", "nodes",
                                        "objects", "pods",    "pod",  "want",   "wants"};

absl::Status CheckRow(const Json& row) {
  if (!row.is_object() || !row.contains("name"))
    return absl::InvalidArgumentError("expected a row with a name");
  for (const auto& [key, value] : row.items()) {
    if (!kRowKeys.contains(key)) return absl::InvalidArgumentError(absl::StrCat("unknown key ", key));
  }
  for (const std::string& version : VersionsOf(row)) {
    if (!api::ParseKubernetesVersion(version).ok())
      return absl::InvalidArgumentError(absl::StrCat("no line ", version));
    const Json want = WantOf(row, version);
    if (!want.is_object() || want.empty())
      return absl::InvalidArgumentError(absl::StrCat("nothing is wanted of ", version));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PluginTableRow>> RowsOf(const YAML::Node& root, const std::string& path) {
  std::vector<PluginTableRow> rows;
  const std::string file = std::filesystem::path(path).stem().string();
  const std::string plugin = root["plugin"].as<std::string>("");
  if (plugin.empty() || !root["rows"].IsSequence()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":1: expected `plugin` and a list of `rows`"));
  }
  std::set<std::string> names;
  for (const YAML::Node& node : root["rows"]) {
    const Json row = JsonOf(node);
    absl::Status status = CheckRow(row);
    const std::string name = status.ok() ? CamelCase(row["name"].get<std::string>()) : "";
    if (status.ok() && !names.insert(name).second)
      status = absl::InvalidArgumentError("two rows of one name");
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", node.Mark().line + 1, ": ", status.message()));
    }
    const Json pod = WholePod(row.value("pod", Json::object()));
    for (const std::string& version : VersionsOf(row)) {
      std::string line = version;
      std::replace(line.begin(), line.end(), '.', '_');
      rows.push_back({.test_name = absl::StrCat(file, "_", name, "_", line),
                      .file = path,
                      .name = row["name"].get<std::string>(),
                      .plugin = plugin,
                      .version = version,
                      .pod = absl::StrCat(pod["metadata"]["namespace"].get<std::string>(), "/",
                                          pod["metadata"]["name"].get<std::string>()),
                      .test_case = CaseOf(row, plugin, pod),
                      .want = WantOf(row, version)});
    }
  }
  return rows;
}

// ---- Answers ----

using sim::record::Texts;

std::vector<std::string> Sorted(const Texts& texts) {
  std::vector<std::string> sorted(texts.begin(), texts.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// `Code: reason; reason`, with the plugin's name before it when it is not `plugin`.
std::string StatusText(const sim::record::Status& status, const std::string& plugin) {
  const std::vector<std::string> reasons = Sorted(status.reasons);
  const bool is_named = !status.plugin.empty() && !plugin.empty() && status.plugin != plugin;
  return absl::StrCat(is_named ? status.plugin : "", is_named ? " " : "",
                      status.code.empty() ? "Success" : status.code, reasons.empty() ? "" : ": ",
                      absl::StrJoin(reasons, "; "));
}

// Shape: `values[i]` belongs to `nodes[i]`.
Json ByNode(const Texts& nodes, sim::record::Column values) {
  Json result = Json::object();
  for (size_t i = 0; i < std::min(nodes.size(), values.size()); ++i)
    result[std::string(nodes[i])] = values[i];
  return result;
}

// Of a score, raw or weighted; empty where the plugin has none.
Json ByNode(const Texts& nodes, const sim::record::Map<sim::record::Column>& columns,
            const std::string& plugin) {
  for (const auto& [name, values] : columns) {
    if (name == plugin) return ByNode(nodes, values);
  }
  return Json::object();
}

std::string PreFilterText(const sim::record::PreFilter& pre_filter, const std::string& plugin) {
  const Texts& skipped = pre_filter.skip_filter;
  if (std::find(skipped.begin(), skipped.end(), plugin) != skipped.end()) return "Skip";
  const bool is_own = pre_filter.status.has_value() && pre_filter.status->plugin == plugin;
  return is_own ? StatusText(*pre_filter.status, "") : "Success";
}

// What the attempt says of each node.
Json FilterAnswer(const sim::record::Attempt& attempt, const PluginTableRow& row, const std::string& key) {
  Json rejected = Json::object();
  std::vector<std::string> feasible;
  for (const sim::record::FilteredNode& node : attempt.filter) {
    if (sim::record::FilteredNode::Rejected(node)) {
      rejected[std::string(node.node)] =
          StatusText({.code = node.code, .plugin = node.plugin, .reasons = node.reasons}, row.plugin);
    } else {
      feasible.emplace_back(node.node);
    }
  }
  std::sort(feasible.begin(), feasible.end());
  return key == "filter" ? rejected : Json(feasible);
}

Json DryRunAnswer(const sim::record::Attempt& attempt) {
  Json result = Json::object();
  for (const sim::record::DryRun& run : attempt.dry_run) {
    result[std::string(run.node)] =
        sim::record::DryRun::Helps(run)
            ? absl::StrCat("victims ", absl::StrJoin(run.victims, ", "), "; violations ", run.violations)
            : StatusText({.code = run.code, .plugin = "", .reasons = run.reasons}, "");
  }
  return result;
}

// Null: `key` is none of an attempt.
Json AttemptAnswer(const sim::record::Attempt& attempt, const PluginTableRow& row, const std::string& key) {
  const auto scores = attempt.scores.value_or(sim::record::Scores());
  const auto pre_filter = attempt.pre_filter.value_or(sim::record::PreFilter());
  const auto post_filter = attempt.post_filter.value_or(sim::record::PostFilter());
  if (key == "preFilter") return PreFilterText(pre_filter, row.plugin);
  if (key == "preFilterNodes") return Sorted(pre_filter.nodes.value_or(Texts()));
  if (key == "filter" || key == "feasible") return FilterAnswer(attempt, row, key);
  if (key == "score") return ByNode(scores.nodes, scores.raw, row.plugin);
  if (key == "weighted") return ByNode(scores.nodes, scores.weighted, row.plugin);
  if (key == "total") return ByNode(scores.nodes, scores.total);
  if (key == "best") return Sorted(attempt.best);
  if (key == "host") return std::string(attempt.host);
  if (key == "error") return std::string(attempt.error);
  if (key == "plugins") return Sorted(attempt.unschedulable_plugins);
  if (key == "nominated") return std::string(post_filter.nominate.value_or(""));
  if (key == "postFilter") {
    return attempt.post_filter.has_value()
               ? StatusText(post_filter.status.value_or(sim::record::Status()), "")
               : "";
  }
  if (key == "dryRun") return DryRunAnswer(attempt);
  return nullptr;
}

std::string NameOf(absl::string_view pod_key) { return std::string(pod_key.substr(pod_key.find('/') + 1)); }

// What is wanted, where the message ends so, each of several errors with its place before it.
std::string ConfigErrorAnswer(const std::string& message, const PluginTableRow& row) {
  const std::string want = row.want.value("configError", "");
  const bool is_list = absl::StartsWith(want, "[") && absl::EndsWith(want, "]");
  const std::string list = is_list ? want.substr(1, want.size() - 2) : want;
  for (const absl::string_view part : absl::StrSplit(list, is_list ? ", " : "\n")) {
    if (!absl::StrContains(message, part)) return message;
  }
  return want.empty() ? message : want;
}

// Null: `key` is none of a run.
Json RunAnswer(const sim::Records& records, const PluginTableRow& row, const std::string& key) {
  Json order = Json::array();
  std::vector<std::string> deleted;
  Json message;
  Json config_error;
  Json gated_by;
  for (const sim::record::Record& record : records.list) {
    if (const auto* attempt = record.As<sim::record::Attempt>()) {
      if (attempt->attempts == 1) order.push_back(NameOf(attempt->pod));
    } else if (const auto* deletion = record.As<sim::record::Delete>()) {
      deleted.emplace_back(deletion->pod);
    } else if (const auto* status = record.As<sim::record::PodStatus>()) {
      if (status->pod == row.pod && message.is_null()) message = std::string(status->message.value_or(""));
    } else if (const auto* error = record.As<sim::record::ConfigError>()) {
      if (config_error.is_null()) config_error = std::string(error->message);
    } else if (const auto* queue = record.As<sim::record::Queue>()) {
      if (!gated_by.is_null()) continue;
      gated_by = Json::object();
      for (const auto& [pod, info] : queue->info) {
        if (!info.gated_by.empty()) gated_by[NameOf(pod)] = std::string(info.gated_by);
      }
    }
  }
  std::sort(deleted.begin(), deleted.end());
  if (key == "order") return order;
  if (key == "deleted") return deleted;
  if (key == "message") return message.is_null() ? Json("") : message;
  if (key == "configError") return ConfigErrorAnswer(config_error.is_null() ? "" : config_error, row);
  if (key == "gatedBy") return gated_by.is_null() ? Json::object() : gated_by;
  return nullptr;
}

}  // namespace

absl::StatusOr<std::vector<PluginTableRow>> ReadPluginTable(const std::string& path) {
  try {
    return RowsOf(YAML::LoadFile(path), path);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":", error.mark.line + 1, ": ", error.msg));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":1: ", error.what()));
  }
}

absl::StatusOr<Json> PluginTableAnswer(const std::vector<std::string>& records, const PluginTableRow& row,
                                       const std::string& key) {
  ASSIGN_OR_RETURN(const sim::Records parsed, sim::ReadRecords(records, row.name));
  const sim::record::Attempt none;
  const sim::record::Attempt* first = &none;
  for (const sim::record::Record& record : parsed.list) {
    const auto* attempt = record.As<sim::record::Attempt>();
    if (attempt == nullptr || attempt->pod != row.pod) continue;
    first = attempt;
    break;
  }
  Json answer = AttemptAnswer(*first, row, key);
  if (answer.is_null()) answer = RunAnswer(parsed, row, key);
  if (answer.is_null()) return absl::InvalidArgumentError(absl::StrCat("unknown key ", key));
  return answer;
}

}  // namespace schedsim
