#include "core/hosting/wasm/wasm_guests.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "core/hosting/wasm/wasm_plugin.h"

namespace schedsim::hosting {
namespace {

using codec::Member;
using codec::Value;

// A guest that is loaded, for entries of the same name in other profiles.
struct NamedGuest {
  std::string name;
  std::string url;
  int64_t fuel = 0;
};

// Whether it is a number, and not a text of one, and fits.
template <typename Number>
bool ReadNumber(const Value& value, Number& number) {
  return value.type == Value::Type::kNumber && absl::SimpleAtoi(value.text, &number);
}

// Reads the arguments of a guest that stand in a file.
class ArgsReader {
 public:
  explicit ArgsReader(absl::string_view file) : file_(file) {}

  absl::StatusOr<GuestArgs> Read(const Value& value, const std::string& path) const {
    GuestArgs args;
    for (const Member& member : value.members) {
      if (member.value.is_null()) continue;
      if (member.key == "guestURL" || member.key == "guestConfig") {
        if (!member.value.is_string()) return WrongType(member, path, "a string");
        (member.key == "guestURL" ? args.guest_url : args.guest_config) = std::string(member.value.text);
      } else if (member.key == "logSeverity") {
        if (!ReadNumber(member.value, args.log_severity)) {
          return WrongType(member, path, "a whole number (0 info, 1 warning, 2 error, 3 fatal)");
        }
      } else if (member.key == "fuel") {
        constexpr int64_t kFuelMax = int64_t{1} << 40;
        if (!ReadNumber(member.value, args.fuel) || args.fuel < 1 || args.fuel > kFuelMax) {
          return WrongType(member, path, "a whole number from 1 to 2^40");
        }
      } else if (member.key == "Args" || member.key == "args") {
        RETURN_IF_ERROR(ReadStrings(member, path, args.args));
      } else if (member.key != "apiVersion" && member.key != "kind") {
        return Error(member.value, absl::StrCat(path, ".", Printable(member.key, kShownBytesMax)),
                     "unknown field, expected guestURL, guestConfig, logSeverity, Args or fuel");
      }
    }
    return args;
  }

  absl::Status Error(const Value& value, const std::string& path, absl::string_view what) const {
    return codec::ErrorAt({.file = file_, .position = value.position}, absl::StrCat(path, ": ", what));
  }

 private:
  absl::Status WrongType(const Member& member, const std::string& path, absl::string_view expected) const {
    return Error(member.value, absl::StrCat(path, ".", member.key),
                 absl::StrCat("expected ", expected, ", got ", codec::Describe(member.value.type)));
  }

  absl::Status ReadStrings(const Member& member, const std::string& path,
                           std::vector<std::string>& texts) const {
    if (!member.value.is_array()) return WrongType(member, path, "a list of strings");
    for (const Value& item : member.value.items) {
      if (!item.is_string()) return WrongType(member, path, "a list of strings");
      texts.emplace_back(item.text);
    }
    return absl::OkStatus();
  }

  const absl::string_view file_;
};

// What the profile's own entry says; it was read without an error before.
absl::StatusOr<GuestArgs> ArgsOf(const api::PluginArgs& args) {
  const auto* const given = std::get_if<api::UnknownArgs>(&args);
  if (given == nullptr) return absl::InvalidArgumentError("wasm: guestURL is required");
  GuestArgs read;
  RETURN_IF_ERROR(codec::ReadText(given->json, "args.json", {}, [&](const codec::Document& document) {
    ASSIGN_OR_RETURN(read, ArgsReader("args").Read(document.root, "args"));
    return absl::OkStatus();
  }));
  return read;
}

class GuestLoader {
 public:
  GuestLoader(absl::string_view file, const GuestOptions& options, std::vector<api::PluginInfo>& known,
              LoadedPlugins& loaded, std::vector<std::string>& notes)
      : file_(file), args_(file), options_(options), known_(known), loaded_(loaded), notes_(notes) {}

  absl::Status Load(const Value& root) {
    const Value* const profiles = root.Find("profiles");
    if (profiles == nullptr) return absl::OkStatus();
    for (size_t i = 0; i < profiles->items.size(); ++i) {
      const Value* const configs = profiles->items[i].Find("pluginConfig");
      if (configs == nullptr) continue;
      for (size_t j = 0; j < configs->items.size(); ++j) {
        const Value* const name = configs->items[j].Find("name");
        const Value* const args = configs->items[j].Find("args");
        if (name == nullptr || !name->is_string() || args == nullptr || args->Find("guestURL") == nullptr) {
          continue;
        }
        RETURN_IF_ERROR(LoadOne(std::string(name->text), *args,
                                absl::StrCat("profiles[", i, "].pluginConfig[", j, "].args")));
      }
    }
    return absl::OkStatus();
  }

 private:
  // The file of the guest on this machine; what was tried where there is none.
  absl::StatusOr<std::string> FindFile(const std::string& url) const {
    absl::string_view path = url;
    if (url.empty()) return absl::InvalidArgumentError("wasm: guestURL is required");
    if (!absl::ConsumePrefix(&path, "file://")) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unsupported URL ", api::GoQuote(url),
          ", expected file:// and a path: a guest from the network could be another one tomorrow"));
    }
    std::string place(path);
    for (const auto& [mount, host] : options_.mounts) {
      absl::string_view rest = path;
      if (mount.empty() || !absl::ConsumePrefix(&rest, mount)) continue;
      if (!rest.empty() && rest[0] != '/' && mount.back() != '/') continue;
      place = absl::StrCat(host, rest);
      break;
    }
    const size_t slash = file_.rfind('/');
    const std::string folder(slash == absl::string_view::npos ? "" : file_.substr(0, slash + 1));
    const bool is_absolute = absl::StartsWith(place, "/");
    const std::string beside = is_absolute ? place : folder + place;
    if (codec::CheckFile(beside).ok()) return beside;
    if (!is_absolute && codec::CheckFile(place).ok()) return place;
    const bool is_one = is_absolute || folder.empty();
    return absl::InvalidArgumentError(
        absl::StrCat("there is no guest ", beside, is_one ? "" : " and none ", is_one ? "" : place));
  }

  absl::Status LoadOne(const std::string& name, const Value& args, const std::string& path) {
    const Value& url_value = *args.Find("guestURL");
    const std::string url_path = absl::StrCat(path, ".guestURL");
    GuestArgs read;
    ASSIGN_OR_RETURN(read, args_.Read(args, path));
    for (const NamedGuest& other : named_) {
      if (other.name != name) continue;
      if (other.url == read.guest_url && other.fuel == read.fuel) return absl::OkStatus();
      return args_.Error(
          url_value, url_path,
          absl::StrCat("another profile's plugin ", api::GoQuote(name),
                       " is another guest, or has another fuel, expected the same ones for one name"));
    }
    const absl::StatusOr<std::string> guest_file = FindFile(read.guest_url);
    if (!guest_file.ok()) return args_.Error(url_value, url_path, guest_file.status().message());
    absl::StatusOr<std::string> bytes = codec::ReadFile(*guest_file);
    if (!bytes.ok()) return args_.Error(url_value, url_path, bytes.status().message());
    absl::StatusOr<std::shared_ptr<const GuestCode>> code =
        LoadGuest(*guest_file, *bytes, options_.engine, read.fuel);
    if (!code.ok())
      return args_.Error(url_value, url_path, absl::StrCat(*guest_file, ": ", code.status().message()));
    named_.push_back({.name = name, .url = read.guest_url, .fuel = read.fuel});
    const absl::Status added = Add(name, *code);
    if (!added.ok()) return args_.Error(url_value, url_path, added.message());
    if (const std::string note = (*code)->Note(); !note.empty()) {
      notes_.emplace_back(args_.Error(url_value, url_path, absl::StrCat(*guest_file, " ", note)).message());
    }
    return absl::OkStatus();
  }

  absl::Status Add(const std::string& name, const std::shared_ptr<const GuestCode>& code) {
    const auto make = [name, code, log = options_.log](
                          const api::PluginArgs& args,
                          framework::Handle& handle) -> absl::StatusOr<std::unique_ptr<framework::Plugin>> {
      GuestArgs read;
      ASSIGN_OR_RETURN(read, ArgsOf(args));
      return MakeWasmPlugin(code, name, std::move(read), log, handle);
    };
    const api::PluginInfo info = {.name = name, .points = code->Points()};
    RETURN_IF_ERROR(AddLoadedPlugin(code->name, info, /*hears=*/false, make,
                                    api::InTreePlugins(api::kDefaultKubernetesLine), loaded_));
    const auto has_name = [&name](const api::PluginInfo& other) { return other.name == name; };
    known_.erase(std::remove_if(known_.begin(), known_.end(), has_name), known_.end());
    known_.insert(
        std::lower_bound(known_.begin(), known_.end(), info,
                         [](const api::PluginInfo& a, const api::PluginInfo& b) { return a.name < b.name; }),
        info);
    return absl::OkStatus();
  }

  const absl::string_view file_;
  const ArgsReader args_;
  const GuestOptions& options_;
  std::vector<api::PluginInfo>& known_;
  LoadedPlugins& loaded_;
  std::vector<std::string>& notes_;
  std::vector<NamedGuest> named_;
};

}  // namespace

absl::Status LoadGuests(const Value& root, absl::string_view file, const GuestOptions& options,
                        std::vector<api::PluginInfo>& known, LoadedPlugins& loaded,
                        std::vector<std::string>& notes) {
  return GuestLoader(file, options, known, loaded, notes).Load(root);
}

}  // namespace schedsim::hosting
