#include "sim/controllers/pod_template_hash.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/api/quantity.h"
#include "core/api/quantity_text.h"
#include "sim/controllers/pod_template_types.h"

namespace schedsim::sim {
namespace {

using codec::Value;

constexpr int kFirstMinor = 34;

struct GoField {
  absl::string_view name;
  absl::string_view json;  // "": the fields of its struct stand in the one around it.
  absl::string_view type;
  char kind = 's';  // See kPodTemplateTypes.
  int since = 0;
  int until = 0;  // 0: it is there still.
};
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

// A quantity in the notation in which the API server keeps it, as Go's struct.
// Source: apimachinery v0.37, pkg/api/resource/quantity.go, ParseQuantity.
std::string QuantityGoText(absl::string_view text) {
  absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(text.empty() ? "0" : text);
  // Defaults round up to thousandths.
  constexpr int64_t kNanoPerMilli = 1'000'000;
  if (quantity.ok() && quantity->NanoValue() % kNanoPerMilli != 0)
    quantity = api::Quantity::FromMilli(quantity->MilliValue());
  const bool is_binary = absl::EndsWith(text, "i");
  std::string canonical = quantity.ok()
                              ? api::QuantityText(*quantity, is_binary ? api::QuantityFormat::kBinary
                                                                       : api::QuantityFormat::kDecimal)
                              : std::string(text);
  const size_t digits_end = canonical.find_first_not_of("-0123456789");
  const std::string digits = canonical.substr(0, digits_end);
  const std::string suffix = digits_end == std::string::npos ? "" : canonical.substr(digits_end);
  int64_t value = 0;
  if (!absl::SimpleAtoi(digits, &value)) return canonical;
  constexpr absl::string_view kBinary[] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  constexpr std::pair<absl::string_view, int> kDecimal[] = {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0},
                                                            {"k", 3},  {"M", 6},  {"G", 9},  {"T", 12},
                                                            {"P", 15}, {"E", 18}};
  int scale = 0;
  // The text is kept where it is surely canonical.
  bool keeps_text = true;
  const auto* const binary = std::find(std::begin(kBinary), std::end(kBinary), suffix);
  if (binary != std::end(kBinary)) {
    constexpr int kBits = 10;
    keeps_text = (value & 7) != 0;
    value <<= kBits * (binary - std::begin(kBinary) + 1);
  } else {
    for (const auto& [unit, exponent] : kDecimal) {
      if (unit == suffix) scale = exponent;
    }
  }
  return absl::StrCat("{i:(resource.int64Amount){value:(int64)", value, " scale:(resource.Scale)", scale,
                      "} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)",
                      keeps_text ? canonical : "", " Format:(resource.Format)",
                      binary != std::end(kBinary) ? "BinarySI" : "DecimalSI", "}");
}

std::string IntOrStringText(const Value* value) {
  const bool is_text = value != nullptr && value->is_string();
  return absl::StrCat("{Type:(intstr.Type)", is_text ? "1" : "0", " IntVal:(int32)",
                      value == nullptr || is_text ? "0" : value->text, " StrVal:(string)",
                      is_text ? value->text : "", "}");
}

// Prints values of Go's types. The types are nested a dozen deep at most, and so are the calls.
class GoPrinter {
 public:
  explicit GoPrinter(api::KubernetesLine line) : minor_(kFirstMinor + static_cast<int>(line)) {}

  // `value` is nullptr where there is none. `names_type`: elements of lists and maps, and what pointers point
  // at, do not.
  void Print(absl::string_view type, char kind, const Value* value, bool names_type, std::string& out) const {
    if (kind == 'p') {
      const absl::string_view target = type.substr(1);
      if (names_type) absl::StrAppend(&out, "(", type, ")");
      if (value == nullptr) {
        absl::StrAppend(&out, "<nil>");
      } else {
        Print(target, KindOf(target), value, /*names_type=*/false, out);
      }
      return;
    }
    if (names_type) absl::StrAppend(&out, "(", type, ")");
    if (kind == 'l') {
      PrintList(type, value, out);
    } else if (kind == 'm') {
      PrintMap(type, value, out);
    } else if (kind == 'S') {
      PrintStruct(type, value, out);
    } else if (value != nullptr) {
      absl::StrAppend(&out, kind == 'b' ? (value->boolean ? "true" : "false") : value->text);
    } else {
      absl::StrAppend(&out, kind == 's' ? "" : kind == 'b' ? "false" : "0");
    }
  }

 private:
  // Of what lists, maps and pointers have. Scalars are printed alike, but for bool.
  static char KindOf(absl::string_view type) {
    if (absl::StartsWith(type, "*")) return 'p';
    if (type == "bool") return 'b';
    const bool is_struct = Types().count(type) > 0 || type == "resource.Quantity" ||
                           type == "intstr.IntOrString" || type == "v1.Time";
    return is_struct ? 'S' : 's';
  }

  void PrintList(absl::string_view type, const Value* value, std::string& out) const {
    if (value == nullptr || value->items.empty()) {
      absl::StrAppend(&out, "<nil>");
      return;
    }
    const absl::string_view item_type = type.substr(2);
    absl::StrAppend(&out, "[");
    for (size_t i = 0; i < value->items.size(); ++i) {
      if (i > 0) absl::StrAppend(&out, " ");
      Print(item_type, KindOf(item_type), &value->items[i], /*names_type=*/false, out);
    }
    absl::StrAppend(&out, "]");
  }

  void PrintMap(absl::string_view type, const Value* value, std::string& out) const {
    if (value == nullptr || value->members.empty()) {
      absl::StrAppend(&out, "<nil>");
      return;
    }
    std::vector<const codec::Member*> members;
    for (const codec::Member& member : value->members) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const codec::Member* a, const codec::Member* b) { return a->key < b->key; });
    absl::StrAppend(&out, "map[");
    for (size_t i = 0; i < members.size(); ++i) {
      absl::StrAppend(&out, i > 0 ? " " : "", members[i]->key, ":");
      const absl::string_view text = members[i]->value.text;
      absl::StrAppend(&out, type == "v1.ResourceList" ? QuantityGoText(text) : std::string(text));
    }
    absl::StrAppend(&out, "]");
  }

  void PrintStruct(absl::string_view type, const Value* value, std::string& out) const {
    if (type == "resource.Quantity") {
      absl::StrAppend(&out, QuantityGoText(value == nullptr ? "0" : value->text));
      return;
    }
    if (type == "intstr.IntOrString") {
      absl::StrAppend(&out, IntOrStringText(value));
      return;
    }
    if (type == "v1.Time") {
      absl::StrAppend(&out, "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}");
      return;
    }
    const Value none = Literal("", Value::Type::kObject);
    const Value& owner = value == nullptr ? none : *value;
    absl::StrAppend(&out, "{");
    absl::string_view separator = "";
    for (const GoField& field : Types().at(type)) {
      if (minor_ < field.since || (field.until != 0 && minor_ > field.until)) continue;
      absl::StrAppend(&out, separator, field.name, ":");
      separator = " ";
      PrintField(type, owner, field, out);
    }
    absl::StrAppend(&out, "}");
  }

  void PrintField(absl::string_view type, const Value& owner, const GoField& field, std::string& out) const {
    if (field.json.empty()) {
      Print(field.type, field.kind, &owner, /*names_type=*/true, out);
      return;
    }
    const Value* given = Member(owner, field.json);
    if (given != nullptr && field.kind != 'p' && IsZero(*given)) given = nullptr;
    std::optional<Value> set;
    if (given == nullptr) set = DefaultOf(type, owner, field);
    Print(field.type, field.kind, set.has_value() ? &*set : given, /*names_type=*/true, out);
  }

  const int minor_;
};

}  // namespace

std::string PodTemplateText(const Value& pod_template, api::KubernetesLine line) {
  std::string text;
  GoPrinter(line).Print("v1.PodTemplateSpec", 'S', &pod_template, /*names_type=*/true, text);
  return text;
}

std::string PodTemplateHash(const Value& pod_template, api::KubernetesLine line,
                            std::optional<int64_t> collisions) {
  std::string text = PodTemplateText(pod_template, line);
  if (collisions.has_value()) {
    // Eight bytes, of which the first four have the number.
    constexpr int kBytes = 8;
    constexpr int kBits = 8;
    const uint64_t number = static_cast<uint32_t>(*collisions);
    for (int i = 0; i < kBytes; ++i) text += static_cast<char>((number >> (kBits * i)) & 0xff);
  }
  // FNV-1a of 32 bits.
  uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  // Source: apimachinery v0.37, pkg/util/rand, SafeEncodeString.
  constexpr absl::string_view kCharacters = "bcdfghjklmnpqrstvwxz2456789";
  std::string encoded = absl::StrCat(hash);
  for (char& c : encoded) c = kCharacters[static_cast<unsigned char>(c) % kCharacters.size()];
  return encoded;
}

}  // namespace schedsim::sim
