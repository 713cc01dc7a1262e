#include "core/codec/config/scheduler_config_migration.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/api/field_errors.h"
#include "core/api/go_text.h"
#include "core/api/scheduler_config.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {
namespace {

constexpr absl::string_view kKind = "KubeSchedulerConfiguration";
constexpr absl::string_view kV1beta2 = "kubescheduler.config.k8s.io/v1beta2";
constexpr absl::string_view kV1beta3 = "kubescheduler.config.k8s.io/v1beta3";

// Root fields that ended with v1beta2.
constexpr absl::string_view kRemovedFields[] = {"healthzBindAddress", "metricsBindAddress"};

// In-tree plugins that are gone, and what does their work now.
struct RemovedPlugin {
  absl::string_view name;
  absl::string_view instead;
};
constexpr RemovedPlugin kRemovedPlugins[] = {
    {"AzureDiskLimits", "NodeVolumeLimits counts CSI volumes"},
    {"CinderLimits", "NodeVolumeLimits counts CSI volumes"},
    {"EBSLimits", "NodeVolumeLimits counts CSI volumes"},
    {"GCEPDLimits", "NodeVolumeLimits counts CSI volumes"},
    {"NodeLabel", "use NodeAffinity with addedAffinity"},
    {"NodePreferAvoidPods", "use taints"},
    {"SelectorSpread", "PodTopologySpread spreads by default"},
    {"ServiceAffinity", "use InterPodAffinity"},
};

const RemovedPlugin* FindRemovedPlugin(const Value& item) {
  const Value* name = item.Find("name");
  if (name == nullptr || !name->is_string()) return nullptr;
  for (const RemovedPlugin& plugin : kRemovedPlugins) {
    if (plugin.name == name->text) return &plugin;
  }
  return nullptr;
}

// Rewrites one document; parts that stay are shared with it.
class Migration {
 public:
  Migration(const Value& root, absl::string_view file) : root_(root), file_(file) {}

  absl::StatusOr<MigratedSchedulerConfig> Run();

 private:
  using Rewrite = absl::FunctionRef<std::optional<Value>(const Member& member, const std::string& path)>;

  absl::Status CheckType() const;
  // A map with each member's value replaced, or the member dropped for std::nullopt.
  Value RewriteMap(const Value& map, const std::string& path, Rewrite rewrite);
  // A list with each item replaced.
  Value RewriteItems(const Value& list, const std::string& path,
                     absl::FunctionRef<Value(const Value& item, const std::string& path)> rewrite);
  std::optional<Value> RewriteRootField(const Member& member, const std::string& path);
  Value RewriteProfile(const Value& profile, const std::string& path);
  Value RewritePluginConfig(const Value& config, const std::string& path);
  // A list of plugins, or of plugin configurations, without those that are gone.
  Value WithoutRemovedPlugins(const Value& list, const std::string& path);
  Value VersionValue(const Value& old);
  void NoteDefaultWeights();
  void Note(Position position, const std::string& path, absl::string_view what);

  const Value& root_;
  const absl::string_view file_;
  Document document_;
  MigratedSchedulerConfig result_;
};

absl::StatusOr<MigratedSchedulerConfig> Migration::Run() {
  RETURN_IF_ERROR(CheckType());
  NoteDefaultWeights();
  const Value migrated = RewriteMap(root_, "", [&](const Member& member, const std::string& path) {
    return RewriteRootField(member, path);
  });
  result_.yaml = ToYaml(migrated);
  return std::move(result_);
}

absl::Status Migration::CheckType() const {
  const Value* kind = root_.Find("kind");
  const Value* version = root_.Find("apiVersion");
  const bool is_config = kind != nullptr && kind->text == kKind;
  if (is_config && version != nullptr && (version->text == kV1beta2 || version->text == kV1beta3)) {
    return absl::OkStatus();
  }
  if (is_config && version != nullptr && version->text == api::kSchedulerConfigApiVersion) {
    return ErrorAt({.file = file_, .position = version->position},
                   absl::StrCat("apiVersion: already ", api::kSchedulerConfigApiVersion));
  }
  const Value& place = is_config && version != nullptr ? *version : kind != nullptr ? *kind : root_;
  return ErrorAt({.file = file_, .position = place.position},
                 absl::StrCat("expected ", kKind, " of ", kV1beta2, " or ", kV1beta3));
}

Value Migration::RewriteMap(const Value& map, const std::string& path, Rewrite rewrite) {
  if (!map.is_object()) return map;
  std::vector<Member> members;
  for (const Member& member : map.members) {
    const std::optional<Value> value = rewrite(member, api::Child(path, member.key));
    if (!value) continue;
    Member rewritten = member;
    rewritten.value = *value;
    members.push_back(rewritten);
  }
  Value rewritten = map;
  rewritten.members = document_.CopyMembers(members);
  return rewritten;
}

Value Migration::RewriteItems(const Value& list, const std::string& path,
                              absl::FunctionRef<Value(const Value& item, const std::string& path)> rewrite) {
  if (!list.is_array()) return list;
  std::vector<Value> items;
  for (size_t i = 0; i < list.items.size(); ++i) {
    items.push_back(rewrite(list.items[i], api::Index(path, i)));
  }
  Value rewritten = list;
  rewritten.items = document_.CopyItems(items);
  return rewritten;
}

std::optional<Value> Migration::RewriteRootField(const Member& member, const std::string& path) {
  if (member.key == "apiVersion") return VersionValue(member.value);
  if (std::find(std::begin(kRemovedFields), std::end(kRemovedFields), member.key) !=
      std::end(kRemovedFields)) {
    Note(member.key_position, path, "dropped: v1 has no such field; kube-scheduler takes it as a flag");
    return std::nullopt;
  }
  if (member.key != "profiles") return member.value;
  return RewriteItems(member.value, path, [&](const Value& profile, const std::string& item_path) {
    return RewriteProfile(profile, item_path);
  });
}

Value Migration::RewriteProfile(const Value& profile, const std::string& path) {
  const auto rewrite_set = [&](const Member& member, const std::string& set_path) {
    return RewriteMap(member.value, set_path, [&](const Member& list, const std::string& list_path) {
      return std::optional<Value>(WithoutRemovedPlugins(list.value, list_path));
    });
  };
  return RewriteMap(profile, path, [&](const Member& member, const std::string& member_path) {
    if (member.key == "plugins") {
      return std::optional<Value>(
          RewriteMap(member.value, member_path, [&](const Member& set, const std::string& set_path) {
            return std::optional<Value>(rewrite_set(set, set_path));
          }));
    }
    if (member.key != "pluginConfig") return std::optional<Value>(member.value);
    const Value configs =
        RewriteItems(member.value, member_path, [&](const Value& config, const std::string& config_path) {
          return RewritePluginConfig(config, config_path);
        });
    return std::optional<Value>(WithoutRemovedPlugins(configs, member_path));
  });
}

Value Migration::RewritePluginConfig(const Value& config, const std::string& path) {
  return RewriteMap(config, path, [&](const Member& member, const std::string& args_path) {
    if (member.key != "args") return std::optional<Value>(member.value);
    return std::optional<Value>(
        RewriteMap(member.value, args_path, [&](const Member& field, const std::string&) {
          const bool is_version = field.key == "apiVersion" && field.value.is_string() &&
                                  (field.value.text == kV1beta2 || field.value.text == kV1beta3);
          return std::optional<Value>(is_version ? VersionValue(field.value) : field.value);
        }));
  });
}

Value Migration::WithoutRemovedPlugins(const Value& list, const std::string& path) {
  if (!list.is_array()) return list;
  std::vector<Value> items;
  for (size_t i = 0; i < list.items.size(); ++i) {
    const RemovedPlugin* removed = FindRemovedPlugin(list.items[i]);
    if (removed == nullptr) {
      items.push_back(list.items[i]);
      continue;
    }
    Note(list.items[i].position, api::Index(path, i),
         absl::StrCat("dropped: v1 has no plugin ", api::GoQuote(removed->name), "; ", removed->instead));
  }
  Value rewritten = list;
  rewritten.items = document_.CopyItems(items);
  return rewritten;
}

Value Migration::VersionValue(const Value& old) {
  Value version = old;
  version.text = api::kSchedulerConfigApiVersion;
  return version;
}

// The default weights are not written in the file, but change with its version.
void Migration::NoteDefaultWeights() {
  const Value& version = *root_.Find("apiVersion");
  if (version.text != kV1beta2) return;
  Note(version.position, "apiVersion",
       "default score weights differ: in v1beta2 TaintToleration, NodeAffinity and InterPodAffinity "
       "have 1, in v1 they have 3, 2 and 2");
}

void Migration::Note(Position position, const std::string& path, absl::string_view what) {
  const Location location = {.file = file_, .position = position};
  result_.dropped.emplace_back(ErrorAt(location, absl::StrCat(path, ": ", what)).message());
}

}  // namespace

absl::StatusOr<MigratedSchedulerConfig> MigrateSchedulerConfig(absl::string_view path) {
  const absl::string_view file = path == "-" ? "stdin" : path;
  std::optional<MigratedSchedulerConfig> migrated;
  RETURN_IF_ERROR(ReadValues(path, [&](const Document& document) -> absl::Status {
    if (migrated) {
      return ErrorAt({.file = file, .position = document.root.position},
                     "expected a single document, got another one");
    }
    ASSIGN_OR_RETURN(migrated, Migration(document.root, file).Run());
    return absl::OkStatus();
  }));
  if (migrated) return *std::move(migrated);
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": expected ", kKind, " of ", kV1beta2, " or ", kV1beta3));
}

}  // namespace schedsim::codec
