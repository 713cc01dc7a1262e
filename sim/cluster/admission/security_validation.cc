#include "sim/cluster/admission/security_validation.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/go_text.h"
#include "sim/cluster/admission/path_validation.h"

namespace schedsim::sim {
namespace {

// A member of a struct of Go, by its name there, and its own members; texts that are absent are "" where it
// says so, all else is null.
struct GoMember {
  absl::string_view name;
  absl::string_view go_name;
  absl::string_view fallback = "null";
  absl::Span<const GoMember> members = {};
};

constexpr GoMember kCapabilities[] = {{"add", "Add"}, {"drop", "Drop"}};
constexpr GoMember kSeLinux[] = {
    {"user", "User", "\"\""}, {"role", "Role", "\"\""}, {"type", "Type", "\"\""}, {"level", "Level", "\"\""}};
constexpr GoMember kWindows[] = {{"gmsaCredentialSpecName", "GMSACredentialSpecName"},
                                 {"gmsaCredentialSpec", "GMSACredentialSpec"},
                                 {"runAsUserName", "RunAsUserName"},
                                 {"hostProcess", "HostProcess"}};
constexpr GoMember kProfile[] = {{"type", "Type", "\"\""}, {"localhostProfile", "LocalhostProfile"}};
constexpr GoMember kContext[] = {
    {"capabilities", "Capabilities", "null", kCapabilities},
    {"privileged", "Privileged"},
    {"seLinuxOptions", "SELinuxOptions", "null", kSeLinux},
    {"windowsOptions", "WindowsOptions", "null", kWindows},
    {"runAsUser", "RunAsUser"},
    {"runAsGroup", "RunAsGroup"},
    {"runAsNonRoot", "RunAsNonRoot"},
    {"readOnlyRootFilesystem", "ReadOnlyRootFilesystem"},
    {"allowPrivilegeEscalation", "AllowPrivilegeEscalation"},
    {"procMount", "ProcMount"},
    {"seccompProfile", "SeccompProfile", "null", kProfile},
    {"appArmorProfile", "AppArmorProfile", "null", kProfile},
};

// A struct as the API server prints it. The members of a table have none of their own below these.
std::string GoStructJson(const FieldAt& value, absl::Span<const GoMember> members) {
  std::string json;
  for (const GoMember& member : members) {
    const FieldAt field = value.Child(member.name);
    std::string text(member.fallback);
    if (field.is_present())
      text = member.members.empty() ? SortedJson(field) : GoStructJson(field, member.members);
    absl::StrAppend(&json, json.empty() ? "" : ",", api::GoJsonQuote(member.go_name), ":", text);
  }
  return absl::StrCat("{", json, "}");
}

// The number of a user or a group. Source: apimachinery v0.37, pkg/util/validation/validation.go,
// IsValidUserID and IsValidGroupID.
void CheckId(const FieldAt& id, ValidationErrors& errors) {
  const std::optional<int64_t> number = id.Number();
  if (!number.has_value() || (*number >= 0 && *number <= INT32_MAX)) return;
  errors.Invalid(id.path, *number, absl::StrCat("must be between 0 and ", INT32_MAX, ", inclusive"));
}

void CheckSeccomp(const FieldAt& profile, ValidationErrors& errors) {
  constexpr absl::string_view kTypes[] = {"Localhost", "RuntimeDefault", "Unconfined"};
  if (!profile.is_present()) return;
  const FieldAt type = profile.Child("type");
  const FieldAt local = profile.Child("localhostProfile");
  if (type.Text().empty()) {
    errors.Required(type.path, "type is required when seccompProfile is set");
  } else {
    errors.OneOf(type, kTypes);
  }
  if (type.Text() != "Localhost") {
    if (local.is_present()) {
      errors.InvalidJson(local.path, GoStructJson(profile, kProfile),
                         "can only be set when seccomp type is Localhost");
    }
  } else if (!local.is_present()) {
    errors.Required(local.path, "must be set when seccomp type is Localhost");
  } else {
    CheckDescendingPath(local.path, local.Text(), errors);
  }
}

void CheckAppArmor(const FieldAt& profile, ValidationErrors& errors) {
  constexpr absl::string_view kTypes[] = {"Localhost", "RuntimeDefault", "Unconfined"};
  constexpr size_t kPathBytesMax = 4095;
  if (!profile.is_present()) return;
  const FieldAt type = profile.Child("type");
  const FieldAt local = profile.Child("localhostProfile");
  if (type.Text().empty()) return errors.Required(type.path, "type is required when appArmorProfile is set");
  if (!absl::c_linear_search(kTypes, type.Text())) return errors.OneOf(type, kTypes);
  if (type.Text() != "Localhost") {
    if (local.is_present())
      errors.Invalid(local.path, local.Text(), "can only be set when AppArmor type is Localhost");
    return;
  }
  const std::string text = local.Text();
  if (absl::StripAsciiWhitespace(text) != text) {
    errors.Invalid(local.path, text, "must not be padded with whitespace");
  } else if (text.empty()) {
    errors.Required(local.path, "must be set when AppArmor type is Localhost");
  }
  if (text.size() > kPathBytesMax) errors.TooLong(local.path, kPathBytesMax);
}

// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validNetBiosRegex.
bool IsNetBiosName(absl::string_view name) {
  constexpr size_t kBytesMax = 15;
  constexpr absl::string_view kNever = "\\/:*?\"<>|";
  return !name.empty() && name.size() <= kBytesMax && name.front() != '.' &&
         name.find_first_of(kNever) == absl::string_view::npos;
}

// Source: as above, validWindowsUserDomainDNSRegex.
bool IsDomainName(absl::string_view name) {
  constexpr size_t kLabelBytesMax = 63;
  const std::vector<absl::string_view> labels = absl::StrSplit(name, '.');
  return absl::c_all_of(labels, [](absl::string_view label) {
    return !label.empty() && label.size() <= kLabelBytesMax && absl::ascii_isalnum(label.front()) &&
           absl::ascii_isalnum(label.back()) &&
           absl::c_all_of(label, [](char c) { return absl::ascii_isalnum(c) || c == '-'; });
  });
}

// `name` in `DOMAIN\USER`; the domain may be absent.
void CheckWindowsUser(const FieldAt& name, ValidationErrors& errors) {
  constexpr size_t kDomainBytesMax = 256;
  constexpr size_t kUserBytesMax = 104;
  if (!name.is_present()) return;
  const std::string text = name.Text();
  const auto invalid = [&](absl::string_view why) {
    errors.Invalid(name.path, text, absl::StrCat("runAsUserName", why));
  };
  if (text.empty()) return invalid(" cannot be an empty string");
  if (absl::c_any_of(text, absl::ascii_iscntrl)) return invalid(" cannot contain control characters");
  const std::vector<std::string> parts = absl::StrSplit(text, '\\');
  if (parts.size() > 2) return invalid(" cannot contain more than one backslash");
  const std::string& user = parts.back();
  if (parts.size() == 2) {
    if (parts[0].size() >= kDomainBytesMax)
      invalid(absl::StrCat("'s Domain length must be under ", kDomainBytesMax, " characters"));
    if (!IsNetBiosName(parts[0]) && !IsDomainName(parts[0]))
      invalid("'s Domain doesn't match the NetBios nor the DNS format");
  }
  if (user.empty()) {
    invalid("'s User cannot be empty");
  } else if (user.size() > kUserBytesMax) {
    invalid(absl::StrCat("'s User length must not be longer than ", kUserBytesMax, " characters"));
  }
  if (!user.empty() && user.find_first_not_of(". ") == std::string::npos)
    invalid("'s User cannot contain only periods or spaces");
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string::npos)
    invalid("'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
}

void CheckWindowsOptions(const FieldAt& options, ValidationErrors& errors) {
  constexpr size_t kSpecKibMax = 64;
  const FieldAt name = options.Child("gmsaCredentialSpecName");
  if (name.is_present()) errors.DnsSubdomain(name.path, name.Text());
  const FieldAt spec = options.Child("gmsaCredentialSpec");
  if (spec.is_present() && spec.Text().empty()) {
    errors.Invalid(spec.path, "", "gmsaCredentialSpec cannot be an empty string");
  } else if (spec.Text().size() > kSpecKibMax * 1024) {
    errors.Invalid(spec.path, spec.Text(),
                   absl::StrCat("gmsaCredentialSpec size must be under ", kSpecKibMax, " KiB"));
  }
  CheckWindowsUser(options.Child("runAsUserName"), errors);
}

// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, IsValidSysctlName.
bool IsSysctlName(absl::string_view name) {
  constexpr size_t kBytesMax = 253;
  const std::vector<absl::string_view> segments = absl::StrSplit(name, absl::ByAnyChar("./"));
  const auto is_plain = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); };
  return name.size() <= kBytesMax && absl::c_all_of(segments, [&is_plain](absl::string_view segment) {
           return !segment.empty() && is_plain(segment.front()) && is_plain(segment.back()) &&
                  absl::c_all_of(segment,
                                 [&is_plain](char c) { return is_plain(c) || c == '-' || c == '_'; });
         });
}

// Whether a sysctl belongs to the network, and to the communication between processes.
// Source: component-helpers v0.37, node/util/sysctl/namespace.go, GetNamespace.
bool IsOfNetwork(absl::string_view name) { return absl::StartsWith(name, "net."); }
bool IsOfIpc(absl::string_view name) {
  constexpr absl::string_view kNames[] = {
      "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
      "kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"};
  return absl::c_linear_search(kNames, name) || absl::StartsWith(name, "fs.mqueue.");
}

// The name with dots between its parts; where slashes separate them, dots are in their places.
// Source: as above, sysctl.go, NormalizeName.
std::string WithDots(std::string name) {
  const size_t first = name.find_first_of("./");
  if (first == std::string::npos || name[first] == '.') return name;
  for (char& c : name) {
    if (c == '.' || c == '/') c = c == '.' ? '/' : '.';
  }
  return name;
}

void CheckSysctls(const FieldAt& sysctls, const FieldAt& spec, ValidationErrors& errors) {
  std::set<std::string> names;
  for (size_t i = 0; i < sysctls.size(); ++i) {
    const FieldAt name = sysctls.Item(i).Child("name");
    const std::string text = name.Text();
    if (text.empty()) {
      errors.Required(name.path, "");
    } else if (!IsSysctlName(text)) {
      errors.Invalid(name.path, text,
                     "must have at most 253 characters and match regex "
                     "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    } else if (names.contains(text)) {
      errors.Duplicate(name.path, text);
    }
    names.insert(text);
    const std::string dotted = WithDots(text);
    if (spec.Child("hostNetwork").IsTrue() && IsOfNetwork(dotted)) {
      errors.Invalid(name.path, text, "may not be specified when 'hostNetwork' is true");
    } else if (spec.Child("hostIPC").IsTrue() && IsOfIpc(dotted)) {
      errors.Invalid(name.path, text, "may not be specified when 'hostIPC' is true");
    }
  }
}

// All containers of a spec, those that run first before the others.
std::vector<FieldAt> ContainersOf(const FieldAt& spec) {
  std::vector<FieldAt> containers;
  for (const absl::string_view kind : {"initContainers", "containers"}) {
    const FieldAt list = spec.Child(kind);
    for (size_t i = 0; i < list.size(); ++i) containers.push_back(list.Item(i));
  }
  return containers;
}

// Forbids those of `names` that `fields` has.
void ForbidAll(const FieldAt& fields, absl::Span<const absl::string_view> names, ValidationErrors& errors) {
  for (const absl::string_view name : names) {
    const FieldAt field = fields.Child(name);
    if (field.is_present()) errors.Forbidden(field.path, "cannot be set for a windows pod");
  }
}

void CheckWindowsPod(const FieldAt& spec, ValidationErrors& errors) {
  constexpr absl::string_view kOfContext[] = {"appArmorProfile", "seLinuxOptions", "seccompProfile",
                                              "fsGroup", "fsGroupChangePolicy"};
  constexpr absl::string_view kMoreOfContext[] = {"runAsUser", "runAsGroup", "supplementalGroups",
                                                  "supplementalGroupsPolicy", "seLinuxChangePolicy"};
  constexpr absl::string_view kOfContainer[] = {"appArmorProfile",
                                                "seLinuxOptions",
                                                "seccompProfile",
                                                "capabilities",
                                                "readOnlyRootFilesystem",
                                                "privileged",
                                                "allowPrivilegeEscalation",
                                                "procMount",
                                                "runAsUser",
                                                "runAsGroup"};
  const FieldAt context = spec.Child("securityContext");
  ForbidAll(context, kOfContext, errors);
  if (context.Child("sysctls").size() > 0) ForbidAll(context, {"sysctls"}, errors);
  ForbidAll(context, kMoreOfContext, errors);
  ForbidAll(spec, {"hostUsers"}, errors);
  for (const absl::string_view name : {"hostPID", "hostIPC"})
    if (spec.Child(name).IsTrue()) ForbidAll(spec, {name}, errors);
  ForbidAll(spec, {"shareProcessNamespace"}, errors);
  for (const FieldAt& container : ContainersOf(spec))
    ForbidAll(container.Child("securityContext"), kOfContainer, errors);
}

void CheckLinuxPod(const FieldAt& spec, ValidationErrors& errors) {
  std::vector<FieldAt> contexts = {spec.Child("securityContext")};
  for (const FieldAt& container : ContainersOf(spec)) contexts.push_back(container.Child("securityContext"));
  for (const FieldAt& context : contexts) {
    const FieldAt options = context.Child("windowsOptions");
    if (options.is_present()) errors.Forbidden(options.path, "windows options cannot be set for a linux pod");
  }
}

}  // namespace

void CheckSecurityContext(const FieldAt& context, bool host_users, ValidationErrors& errors) {
  constexpr absl::string_view kProcMounts[] = {"Default", "Unmasked"};
  if (!context.is_present()) return;
  CheckId(context.Child("runAsUser"), errors);
  CheckId(context.Child("runAsGroup"), errors);
  const FieldAt mount = context.Child("procMount");
  errors.OneOf(mount, kProcMounts);
  if (host_users && mount.Text() == "Unmasked")
    errors.Invalid(mount.path, mount.Text(), "`hostUsers` must be false to use `Unmasked`");
  CheckSeccomp(context.Child("seccompProfile"), errors);
  const FieldAt escalation = context.Child("allowPrivilegeEscalation");
  if (escalation.is_present() && !escalation.IsTrue()) {
    const auto conflict = [&](absl::string_view with) {
      errors.InvalidJson(context.path, GoStructJson(context, kContext),
                         absl::StrCat("cannot set `allowPrivilegeEscalation` to false and ", with));
    };
    if (context.Child("privileged").IsTrue()) conflict("`privileged` to true");
    const FieldAt added = context.Child("capabilities").Child("add");
    for (size_t i = 0; i < added.size(); ++i)
      if (added.Item(i).Text() == "CAP_SYS_ADMIN") conflict("`capabilities.Add` CAP_SYS_ADMIN");
  }
  CheckWindowsOptions(context.Child("windowsOptions"), errors);
  CheckAppArmor(context.Child("appArmorProfile"), errors);
}

void CheckPodSecurityContext(const FieldAt& spec, ValidationErrors& errors) {
  constexpr absl::string_view kGroupChanges[] = {"Always", "OnRootMismatch"};
  constexpr absl::string_view kGroupPolicies[] = {"Merge", "Strict"};
  constexpr absl::string_view kSeLinuxChanges[] = {"MountOption", "Recursive"};
  const FieldAt context = spec.Child("securityContext");
  if (!context.is_present()) return;
  for (const absl::string_view name : {"fsGroup", "runAsUser", "runAsGroup"})
    CheckId(context.Child(name), errors);
  const FieldAt groups = context.Child("supplementalGroups");
  for (size_t i = 0; i < groups.size(); ++i) CheckId(groups.Item(i), errors);
  CheckSysctls(context.Child("sysctls"), spec, errors);
  errors.OneOf(context.Child("fsGroupChangePolicy"), kGroupChanges);
  CheckSeccomp(context.Child("seccompProfile"), errors);
  CheckWindowsOptions(context.Child("windowsOptions"), errors);
  CheckAppArmor(context.Child("appArmorProfile"), errors);
  errors.OneOf(context.Child("supplementalGroupsPolicy"), kGroupPolicies);
  errors.OneOf(context.Child("seLinuxChangePolicy"), kSeLinuxChanges);
}

void CheckSharedProcesses(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt shares = spec.Child("shareProcessNamespace");
  if (shares.IsTrue() && spec.Child("hostPID").IsTrue())
    errors.InvalidJson(shares.path, "true", "ShareProcessNamespace and HostPID cannot both be enabled");
}

void CheckHostProcesses(const FieldAt& spec, ValidationErrors& errors) {
  const auto of = [](const FieldAt& owner) {
    return owner.Child("securityContext").Child("windowsOptions").Child("hostProcess");
  };
  const FieldAt of_pod = of(spec);
  const std::vector<FieldAt> containers = ContainersOf(spec);
  size_t process_count = 0;
  for (const FieldAt& container : containers) {
    const FieldAt own = of(container);
    if (own.is_present() && of_pod.is_present() && own.IsTrue() != of_pod.IsTrue()) {
      errors.InvalidJson(own.path, own.IsTrue() ? "true" : "false",
                         absl::StrCat("pod hostProcess value must be identical if both are specified, was ",
                                      of_pod.IsTrue() ? "true" : "false"));
    }
    if (own.is_present() ? own.IsTrue() : of_pod.IsTrue()) ++process_count;
  }
  if (process_count == 0) return;
  if (process_count != containers.size()) {
    errors.Invalid(spec.path, "",
                   "If pod contains any hostProcess containers then all containers must be HostProcess "
                   "containers");
  }
  const FieldAt network = spec.Child("hostNetwork");
  if (!network.IsTrue()) {
    errors.InvalidJson(network.path, "false",
                       "hostNetwork must be true if pod contains any hostProcess containers");
  }
}

void CheckHostUsers(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt users = spec.Child("hostUsers");
  if (!users.is_present() || users.IsTrue()) return;
  // Two of the names are as the real one writes them.
  const auto forbid = [&](absl::string_view name, absl::string_view shown) {
    if (spec.Child(name).IsTrue()) errors.Forbidden(spec.Child(shown).path, "when `hostUsers` is false");
  };
  forbid("hostNetwork", "hostNetwork");
  forbid("hostPID", "HostPID");
  forbid("hostIPC", "HostIPC");
  for (const FieldAt& container : ContainersOf(spec)) {
    const FieldAt devices = container.Child("volumeDevices");
    if (devices.size() > 0) errors.Forbidden(devices.path, "when `hostUsers` is false");
  }
}

void CheckOperatingSystem(const FieldAt& spec, ValidationErrors& errors) {
  constexpr absl::string_view kSystems[] = {"linux", "windows"};
  const FieldAt system = spec.Child("os");
  if (!system.is_present()) return;
  const std::string name = system.Child("name").Text();
  if (name.empty()) return errors.Required(system.Child("name").path, "");
  if (name == "linux") return CheckLinuxPod(spec, errors);
  if (name == "windows") return CheckWindowsPod(spec, errors);
  errors.NotSupported(system.path, name, kSystems);
}

}  // namespace schedsim::sim
