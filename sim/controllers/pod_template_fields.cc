#include "sim/controllers/pod_template_fields.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/api/quantity.h"
#include "core/api/quantity_text.h"
#include "sim/controllers/pod_template_types.h"

namespace schedsim::sim {
namespace {

using codec::Value;

constexpr int kFirstMinor = 34;

using GoTypes = std::map<absl::string_view, std::vector<GoField>>;

GoField FieldOf(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '|');
  GoField field = {.name = parts[0], .json = parts[1], .type = parts[2], .kind = parts[3][0]};
  absl::string_view range = parts[3].substr(1);
  const auto take = [&range](absl::string_view sign, int& minor) {
    if (!absl::ConsumePrefix(&range, sign)) return;
    const absl::string_view digits = range.substr(0, 2);
    minor = (digits[0] - '0') * 10 + (digits[1] - '0');
    range.remove_prefix(digits.size());
  };
  take("+", field.since);
  take("-", field.until);
  return field;
}

const GoTypes& Types() {
  static const GoTypes* const kTypes = [] {
    auto* types = new GoTypes;
    for (const absl::string_view text : absl::StrSplit(kPodTemplateTypes, ';', absl::SkipEmpty())) {
      const std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
      std::vector<GoField>& fields = (*types)[words[0]];
      for (size_t i = 1; i < words.size(); ++i) fields.push_back(FieldOf(words[i]));
    }
    return types;
  }();
  return *kTypes;
}

// What the API server sets where a field is absent, or where it is empty.
struct Default {
  absl::string_view type;
  absl::string_view json;
  absl::string_view text;
  Value::Type value_type = Value::Type::kString;
};
constexpr Value::Type kNumber = Value::Type::kNumber;
constexpr Value::Type kBool = Value::Type::kBool;
constexpr Default kDefaults[] = {
    {"v1.Container", "terminationMessagePath", "/dev/termination-log"},
    {"v1.Container", "terminationMessagePolicy", "File"},
    {"v1.ContainerPort", "protocol", "TCP"},
    {"v1.Probe", "timeoutSeconds", "1", kNumber},
    {"v1.Probe", "periodSeconds", "10", kNumber},
    {"v1.Probe", "successThreshold", "1", kNumber},
    {"v1.Probe", "failureThreshold", "3", kNumber},
    {"v1.HTTPGetAction", "path", "/"},
    {"v1.HTTPGetAction", "scheme", "HTTP"},
    {"v1.GRPCAction", "service", ""},
    {"v1.ObjectFieldSelector", "apiVersion", "v1"},
    {"v1.FileKeySelector", "optional", "false", kBool},
    {"v1.SecretVolumeSource", "defaultMode", "420", kNumber},
    {"v1.ConfigMapVolumeSource", "defaultMode", "420", kNumber},
    {"v1.DownwardAPIVolumeSource", "defaultMode", "420", kNumber},
    {"v1.ProjectedVolumeSource", "defaultMode", "420", kNumber},
    {"v1.ServiceAccountTokenProjection", "expirationSeconds", "3600", kNumber},
    {"v1.HostPathVolumeSource", "type", ""},
    {"v1.ISCSIVolumeSource", "iscsiInterface", "default"},
    {"v1.RBDVolumeSource", "pool", "rbd"},
    {"v1.RBDVolumeSource", "user", "admin"},
    {"v1.RBDVolumeSource", "keyring", "/etc/ceph/keyring"},
    {"v1.AzureDiskVolumeSource", "cachingMode", "ReadWrite"},
    {"v1.AzureDiskVolumeSource", "fsType", "ext4"},
    {"v1.AzureDiskVolumeSource", "readOnly", "false", kBool},
    {"v1.AzureDiskVolumeSource", "kind", "Shared"},
    {"v1.ScaleIOVolumeSource", "storageMode", "ThinProvisioned"},
    {"v1.ScaleIOVolumeSource", "fsType", "xfs"},
    {"v1.PersistentVolumeClaimSpec", "volumeMode", "Filesystem"},
    {"v1.PodSpec", "dnsPolicy", "ClusterFirst"},
    {"v1.PodSpec", "restartPolicy", "Always"},
    {"v1.PodSpec", "terminationGracePeriodSeconds", "30", kNumber},
    {"v1.PodSpec", "securityContext", "", Value::Type::kObject},
    {"v1.PodSpec", "schedulerName", "default-scheduler"},
};

Value Literal(absl::string_view text, Value::Type type) {
  Value value;
  value.type = type;
  value.text = text;
  value.boolean = text == "true";
  return value;
}

// Null counts as absent.
const Value* Member(const Value& map, absl::string_view key) {
  const Value* found = map.Find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

// Whether an image without a policy is pulled always: its tag is `latest`, or it has none and no digest.
bool IsLatest(absl::string_view image) {
  const absl::string_view last =
      image.substr(image.rfind('/') == absl::string_view::npos ? 0 : image.rfind('/'));
  const absl::string_view named = last.substr(0, last.find('@'));
  const size_t colon = named.find(':');
  if (colon == absl::string_view::npos) return named.size() == last.size();
  return named.substr(colon + 1) == "latest";
}

// What goes by more than the field alone.
std::optional<Value> SpecialDefault(absl::string_view type, const Value& owner, const GoField& field) {
  const auto text_of = [&owner](absl::string_view key) {
    const Value* found = Member(owner, key);
    return found == nullptr ? absl::string_view() : found->text;
  };
  const bool is_pull_policy = (type == "v1.Container" && field.json == "imagePullPolicy") ||
                              (type == "v1.ImageVolumeSource" && field.json == "pullPolicy");
  if (is_pull_policy) {
    const bool is_latest = IsLatest(text_of(type == "v1.Container" ? "image" : "reference"));
    return Literal(is_latest ? "Always" : "IfNotPresent", Value::Type::kString);
  }
  if (type == "v1.PodSpec" && field.json == "serviceAccount" && !text_of("serviceAccountName").empty()) {
    return Literal(text_of("serviceAccountName"), Value::Type::kString);
  }
  if (type == "v1.PodSpec" && field.json == "serviceAccountName" && !text_of("serviceAccount").empty()) {
    return Literal(text_of("serviceAccount"), Value::Type::kString);
  }
  // A volume without a source.
  const bool has_source = std::any_of(
      owner.members.begin(), owner.members.end(),
      [](const codec::Member& member) { return member.key != "name" && !member.value.is_null(); });
  if (type == "v1.VolumeSource" && field.json == "emptyDir" && !has_source)
    return Literal("", Value::Type::kObject);
  return std::nullopt;
}

std::optional<Value> DefaultOf(absl::string_view type, const Value& owner, const GoField& field) {
  for (const Default& known : kDefaults) {
    if (known.type == type && known.json == field.json) return Literal(known.text, known.value_type);
  }
  return SpecialDefault(type, owner, field);
}

// Whether the API server takes the value of a field that is no pointer for none.
bool IsZero(const Value& value) {
  return (value.is_string() && value.text.empty()) ||
         (value.type == Value::Type::kNumber && value.text == "0");
}

}  // namespace

bool GoField::IsIn(std::optional<api::KubernetesLine> line) const {
  if (!line.has_value()) return true;
  const int minor = kFirstMinor + static_cast<int>(*line);
  return minor >= since && (until == 0 || minor <= until);
}

const std::vector<GoField>& FieldsOf(absl::string_view struct_type) { return Types().at(struct_type); }

char GoKindOf(absl::string_view type) {
  if (absl::StartsWith(type, "*")) return 'p';
  if (type == "bool") return 'b';
  const bool is_struct = Types().count(type) > 0 || type == "resource.Quantity" ||
                         type == "intstr.IntOrString" || type == "v1.Time";
  return is_struct ? 'S' : 's';
}

std::optional<Value> StoredValue(absl::string_view type, const Value& owner, const GoField& field) {
  const Value* given = Member(owner, field.json);
  if (given != nullptr && (field.kind == 'p' || !IsZero(*given))) return *given;
  return DefaultOf(type, owner, field);
}

// Source: apimachinery v0.37, pkg/api/resource/quantity.go, ParseQuantity.
std::string StoredQuantity(absl::string_view text) {
  absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(text.empty() ? "0" : text);
  if (!quantity.ok()) return std::string(text);
  // Defaults round up to thousandths.
  constexpr int64_t kNanoPerMilli = 1'000'000;
  if (quantity->NanoValue() % kNanoPerMilli != 0) quantity = api::Quantity::FromMilli(quantity->MilliValue());
  const bool is_binary = absl::EndsWith(text, "i");
  return api::QuantityText(*quantity,
                           is_binary ? api::QuantityFormat::kBinary : api::QuantityFormat::kDecimal);
}

Value EmptyMap() { return Literal("", Value::Type::kObject); }

std::vector<const codec::Member*> SortedMembers(const Value& map) {
  std::vector<const codec::Member*> members;
  for (const codec::Member& member : map.members) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const codec::Member* a, const codec::Member* b) { return a->key < b->key; });
  return members;
}

std::string SafeEncoded(uint32_t hash) {
  constexpr absl::string_view kCharacters = "bcdfghjklmnpqrstvwxz2456789";
  std::string encoded = absl::StrCat(hash);
  for (char& c : encoded) c = kCharacters[static_cast<unsigned char>(c) % kCharacters.size()];
  return encoded;
}

}  // namespace schedsim::sim
