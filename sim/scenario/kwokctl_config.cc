#include "sim/scenario/kwokctl_config.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/api/feature_gates.h"
#include "core/api/kubernetes_version.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

using codec::Value;

absl::string_view TextOf(const Value* value) {
  return value != nullptr && value->is_string() ? value->text : absl::string_view();
}

// A place in the scheduler's container, and what is there.
struct Volume {
  std::string mount_path;
  std::string host_path;
};

class Reader {
 public:
  Reader(const std::string& path, KwokctlConfig& config) : path_(path), config_(config) {
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos) folder_ = path.substr(0, slash + 1);
  }

  bool found() const { return found_; }

  absl::Status Read(const codec::Document& document) {
    const absl::string_view kind = TextOf(document.root.Find("kind"));
    if (kind == "Stage") config_.has_stages = true;
    if (kind == "KwokConfiguration") return ReadKwok(document.root);
    if (kind == "KubeSchedulerConfiguration") scheduler_position_ = document.root.position;
    if (kind != "KwokctlConfiguration") return absl::OkStatus();
    found_ = true;
    for (const codec::Member& member : document.root.members) {
      const bool is_known = member.key == "apiVersion" || member.key == "kind" || member.key == "metadata" ||
                            member.key == "options" || member.key == "componentsPatches";
      if (!is_known) without_effect_.emplace_back(Printable(member.key, kShownBytesMax));
    }
    RETURN_IF_ERROR(ReadOptions(document.root));
    RETURN_IF_ERROR(ReadPatches(document.root));
    NoteWhatHasNoEffect("kwokctl", document.root);
    return absl::OkStatus();
  }

  // After the last document.
  absl::Status Finish() {
    if (scheduler_position_.has_value()) {
      return Error(*scheduler_position_,
                   "kind: KubeSchedulerConfiguration beside a KwokctlConfiguration, expected it in a file of "
                   "its own, which options.kubeSchedulerConfig names");
    }
    api::KubernetesLine line = api::kDefaultKubernetesLine;
    if (config_.scheduler.kubernetes_version.has_value()) {
      line = api::ParseKubernetesVersion(*config_.scheduler.kubernetes_version)->line;
    }
    if (!config_.scheduler.feature_gates.has_value()) return absl::OkStatus();
    const absl::Status set = api::FeatureGates(line).Set(*config_.scheduler.feature_gates);
    return set.ok() ? set : Error(gates_position_, absl::StrCat(gates_field_, ": ", set.message()));
  }

 private:
  absl::Status ReadKwok(const Value& root) {
    ASSIGN_OR_RETURN(const Value* const options, Take(root, "options", "options", Value::Type::kObject));
    if (options == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(ReadCustomResources(*options));
    for (const codec::Member& option : options->members) {
      if (option.key != "enableCRDs" && !option.value.is_null())
        without_effect_.push_back(absl::StrCat("options.", Printable(option.key, kShownBytesMax)));
    }
    NoteWhatHasNoEffect("kwok", root);
    return absl::OkStatus();
  }

  void NoteWhatHasNoEffect(absl::string_view program, const Value& root) {
    if (without_effect_.empty()) return;
    config_.notices.push_back(absl::StrCat(
        "note: ", path_, ":", root.position.line, ":", root.position.column, ": what ", program,
        " is told here has no effect on the simulation: ", absl::StrJoin(without_effect_, ", ")));
    without_effect_.clear();
  }

  absl::Status Error(codec::Position position, absl::string_view what) const {
    return codec::ErrorAt({.file = path_, .position = position}, what);
  }

  // The value of a key, which must be of that type; nullptr: there is none. `field` is its name in messages.
  absl::StatusOr<const Value*> Take(const Value& parent, absl::string_view key, absl::string_view field,
                                    Value::Type type) const {
    const Value* const value = parent.Find(key);
    if (value == nullptr || value->is_null()) return nullptr;
    if (value->type == type) return value;
    return Error(value->position, absl::StrCat(field, ": expected ", codec::Describe(type), ", got ",
                                               codec::Describe(value->type)));
  }

  // The text of a field, or of each item of a list.
  absl::Status ReadText(const Value& value, const std::string& field, std::string& text) const {
    if (!value.is_string()) {
      return Error(value.position,
                   absl::StrCat(field, ": expected a string, got ", codec::Describe(value.type)));
    }
    text = std::string(value.text);
    return absl::OkStatus();
  }
  absl::Status ReadTexts(const Value& value, const std::string& field,
                         std::vector<std::string>& texts) const {
    if (!value.is_array()) {
      return Error(value.position,
                   absl::StrCat(field, ": expected a list, got ", codec::Describe(value.type)));
    }
    for (const Value& item : value.items) RETURN_IF_ERROR(ReadText(item, field, texts.emplace_back()));
    return absl::OkStatus();
  }

  absl::Status ReadOptions(const Value& root) {
    ASSIGN_OR_RETURN(const Value* const options, Take(root, "options", "options", Value::Type::kObject));
    if (options == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(ReadCustomResources(*options));
    for (const codec::Member& member : options->members) {
      const std::string field = absl::StrCat("options.", Printable(member.key, kShownBytesMax));
      RETURN_IF_ERROR(ReadOption(member, field));
    }
    return absl::OkStatus();
  }

  absl::Status ReadOption(const codec::Member& option, const std::string& field) {
    const Value& value = option.value;
    if (value.is_null() || option.key == "enableCRDs") return absl::OkStatus();
    if (option.key == "kubeSchedulerConfig") {
      std::string text;
      RETURN_IF_ERROR(ReadText(value, field, text));
      if (!text.empty()) config_.scheduler.config = FindFile(text);
      return absl::OkStatus();
    }
    if (option.key == "kubeVersion") return ReadVersion(value, field);
    if (option.key == "kubeFeatureGates") return ReadGates(value, field);
    if (option.key == "disable") {
      std::vector<std::string> disabled;
      RETURN_IF_ERROR(ReadTexts(value, field, disabled));
      for (const std::string& component : disabled) Disable(component, field);
      return absl::OkStatus();
    }
    if (option.key == "disableKubeControllerManager" && value.boolean) {
      config_.has_controllers = false;
      return absl::OkStatus();
    }
    without_effect_.push_back(field);
    return absl::OkStatus();
  }

  void Disable(const std::string& component, const std::string& field) {
    if (component == "kube-controller-manager") {
      config_.has_controllers = false;
    } else {
      without_effect_.push_back(absl::StrCat(field, " of ", Printable(component, kShownBytesMax)));
    }
  }

  absl::Status ReadCustomResources(const Value& options) {
    ASSIGN_OR_RETURN(const Value* const kinds,
                     Take(options, "enableCRDs", "options.enableCRDs", Value::Type::kArray));
    if (kinds == nullptr) return absl::OkStatus();
    for (const Value& kind : kinds->items) {
      if (TextOf(&kind) == "Stage") config_.plays_stages_of_cluster = true;
    }
    return absl::OkStatus();
  }

  absl::Status ReadVersion(const Value& value, const std::string& field) {
    std::string text;
    RETURN_IF_ERROR(ReadText(value, field, text));
    const absl::StatusOr<api::KubernetesVersion> version = api::ParseKubernetesVersion(text);
    if (version.ok() && !version->is_warning) {
      config_.scheduler.kubernetes_version = text;
    } else if (!text.empty()) {
      without_effect_.push_back(
          absl::StrCat(field, " ", Printable(text, kShownBytesMax), ", which can't be simulated"));
    }
    return absl::OkStatus();
  }

  absl::Status ReadGates(const Value& value, const std::string& field) {
    std::string text;
    RETURN_IF_ERROR(ReadText(value, field, text));
    if (text.empty()) return absl::OkStatus();
    std::optional<std::string>& gates = config_.scheduler.feature_gates;
    gates = gates.has_value() ? absl::StrCat(*gates, ",", text) : text;
    gates_position_ = value.position;
    gates_field_ = field;
    return absl::OkStatus();
  }

  absl::Status ReadPatches(const Value& root) {
    ASSIGN_OR_RETURN(const Value* const patches,
                     Take(root, "componentsPatches", "componentsPatches", Value::Type::kArray));
    if (patches == nullptr) return absl::OkStatus();
    for (const Value& patch : patches->items) {
      const absl::string_view name = TextOf(patch.Find("name"));
      if (name == "kube-scheduler") {
        RETURN_IF_ERROR(ReadSchedulerPatch(patch));
      } else {
        without_effect_.push_back(
            absl::StrCat("componentsPatches of ", Printable(name.empty() ? "?" : name, kShownBytesMax)));
      }
    }
    return absl::OkStatus();
  }

  // Volumes tell where the scheduler's files are.
  absl::Status ReadSchedulerPatch(const Value& patch) {
    std::vector<Volume> volumes;
    ASSIGN_OR_RETURN(const Value* const extra_volumes,
                     Take(patch, "extraVolumes", "componentsPatches of kube-scheduler: extraVolumes",
                          Value::Type::kArray));
    if (extra_volumes != nullptr) {
      for (const Value& item : extra_volumes->items) {
        volumes.push_back({.mount_path = std::string(TextOf(item.Find("mountPath"))),
                           .host_path = std::string(TextOf(item.Find("hostPath")))});
      }
    }
    for (const Volume& volume : volumes) {
      config_.scheduler.guests.mounts.emplace_back(volume.mount_path, FindFile(volume.host_path));
    }
    if (patch.Find("extraEnvs") != nullptr) without_effect_.emplace_back("extraEnvs of kube-scheduler");
    ASSIGN_OR_RETURN(
        const Value* const extra_args,
        Take(patch, "extraArgs", "componentsPatches of kube-scheduler: extraArgs", Value::Type::kArray));
    if (extra_args == nullptr) return absl::OkStatus();
    for (const Value& item : extra_args->items) {
      const absl::string_view key = absl::StripPrefix(TextOf(item.Find("key")), "--");
      const Value* value = item.Find("value");
      if (key == "config" && value != nullptr) {
        std::string text;
        RETURN_IF_ERROR(ReadText(*value, "componentsPatches of kube-scheduler: config", text));
        config_.scheduler.config = FindFile(OnHost(text, volumes));
      } else if (key == "feature-gates" && value != nullptr) {
        RETURN_IF_ERROR(ReadGates(*value, "componentsPatches of kube-scheduler: feature-gates"));
      } else {
        without_effect_.push_back(
            absl::StrCat("flag --", Printable(key, kShownBytesMax), " of kube-scheduler"));
      }
    }
    return absl::OkStatus();
  }

  static std::string OnHost(const std::string& path, const std::vector<Volume>& volumes) {
    for (const Volume& volume : volumes) {
      absl::string_view rest = path;
      if (volume.mount_path.empty() || !absl::ConsumePrefix(&rest, volume.mount_path)) continue;
      if (rest.empty() || rest[0] == '/' || volume.mount_path.back() == '/') {
        return absl::StrCat(volume.host_path, rest);
      }
    }
    return path;
  }

  std::string FindFile(const std::string& path) const {
    const std::string beside = absl::StrCat(folder_, path);
    const bool is_relative = !path.empty() && path[0] != '/';
    return is_relative && codec::CheckFile(beside).ok() ? beside : path;
  }

  const std::string& path_;
  KwokctlConfig& config_;
  std::string folder_;
  bool found_ = false;
  std::optional<codec::Position> scheduler_position_;
  codec::Position gates_position_;
  std::string gates_field_;
  std::vector<std::string> without_effect_;
};

}  // namespace

absl::StatusOr<std::optional<KwokctlConfig>> ReadKwokctlConfig(const std::string& path) {
  KwokctlConfig config;
  Reader reader(path, config);
  const absl::Status read =
      codec::ReadValues(path, [&reader](const codec::Document& document) { return reader.Read(document); });
  // Whoever reads it as something else says what is wrong with it.
  if (!reader.found()) return std::nullopt;
  RETURN_IF_ERROR(read);
  RETURN_IF_ERROR(reader.Finish());
  return config;
}

absl::StatusOr<std::optional<KwokctlConfig>> KwokctlConfigOf(const SchedulerChoice& choice) {
  if (!choice.config.has_value() || codec::IsDescriptor(*choice.config)) return std::nullopt;
  return ReadKwokctlConfig(*choice.config);
}

// Of `config.scheduler` only what the file may say counts.
SchedulerChoice ChoiceWith(const KwokctlConfig& config, const SchedulerChoice& choice) {
  const SchedulerChoice& of_file = config.scheduler;
  SchedulerChoice both = choice;
  both.config = of_file.config;
  both.guests.mounts = of_file.guests.mounts;
  if (!choice.kubernetes_version.has_value()) both.kubernetes_version = of_file.kubernetes_version;
  if (!choice.feature_gates.has_value()) {
    both.feature_gates = of_file.feature_gates;
  } else if (of_file.feature_gates.has_value()) {
    both.feature_gates = absl::StrCat(*of_file.feature_gates, ",", *choice.feature_gates);
  }
  return both;
}

}  // namespace schedsim::sim
