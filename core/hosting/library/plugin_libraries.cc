#include "core/hosting/library/plugin_libraries.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/framework/plugin_set.h"
#include "core/hosting/library/host_functions.h"
#include "core/hosting/library/library_plugin.h"
#include "core/hosting/library/open_library.h"
#include "core/hosting/library/plugin_call.h"

namespace schedsim::hosting {
namespace {

// Plugins have small numbers, and the in-tree ones need some of them.
constexpr size_t kLoadedMax = 32;
static_assert(kLoadedMax < framework::kMaxPlugins);

absl::Status Invalid(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

bool HasName(const api::PluginInfo& info, absl::string_view name) { return info.name == name; }

// What is wrong with a plugin by itself; "": nothing.
std::string FaultOf(const schedsim_plugin& plugin) {
  if (plugin.create == nullptr || plugin.destroy == nullptr) return "lacks create or destroy";
  if (plugin.pre_filter == nullptr && (plugin.add_pod != nullptr || plugin.remove_pod != nullptr)) {
    return "has AddPod or RemovePod without PreFilter";
  }
  if (plugin.filter_reads > SCHEDSIM_READS_NODE_OBJECT || plugin.score_reads > SCHEDSIM_READS_NODE_OBJECT) {
    return "has filter_reads or score_reads that are unknown";
  }
  if (plugin.score == nullptr && plugin.normalize_score != nullptr) return "has NormalizeScore without Score";
  if ((plugin.reserve == nullptr) != (plugin.unreserve == nullptr)) {
    return "has one of Reserve and Unreserve, expected both or neither";
  }
  if (plugin.pre_bind == nullptr && plugin.pre_bind_pre_flight != nullptr) {
    return "has PreBindPreFlight without PreBind";
  }
  return "";
}

absl::Status AddPlugin(const std::string& path, const schedsim_plugin* plugin,
                       absl::Span<const api::PluginInfo> known, LoadedPlugins& loaded) {
  if (plugin == nullptr || plugin->size != sizeof(schedsim_plugin)) {
    return Invalid(
        path, absl::StrCat("a plugin of ", plugin == nullptr ? 0 : plugin->size, " bytes, expected ",
                           sizeof(schedsim_plugin), ": the library was built with another plugin_abi.h"));
  }
  const std::string name(View(plugin->name));
  const std::string fault = FaultOf(*plugin);
  if (!name.empty() && !fault.empty())
    return Invalid(path, absl::StrCat("plugin ", Printable(name), " ", fault));
  const auto make = [plugin](const api::PluginArgs& args, framework::Handle& handle) {
    return MakeLibraryPlugin(*plugin, args, handle);
  };
  return AddLoadedPlugin(path, {.name = name, .points = PointsOf(*plugin)}, plugin->on_pod != nullptr, make,
                         known, loaded);
}

}  // namespace

absl::Status AddLoadedPlugin(const std::string& path, api::PluginInfo info, bool hears,
                             framework::PluginFactory factory, absl::Span<const api::PluginInfo> known,
                             LoadedPlugins& loaded) {
  const std::string name = info.name;
  if (name.empty() || Printable(name) != name) {
    return Invalid(path, "a plugin without a name, expected one that can be printed");
  }
  const auto has_name = [&name](const api::PluginInfo& other) { return HasName(other, name); };
  if (std::any_of(known.begin(), known.end(), has_name) ||
      std::any_of(loaded.infos.begin(), loaded.infos.end(), has_name)) {
    return Invalid(path, absl::StrCat("there is a plugin ", name, " already, expected another name"));
  }
  if (loaded.plugins.size() == kLoadedMax) {
    return Invalid(path, absl::StrCat("more than ", kLoadedMax, " plugins beside the built-in ones"));
  }
  if (info.points.none() && !hears) {
    loaded.notes.push_back(absl::StrCat(path, ": the plugin ", name,
                                        " has no method of an extension point, such as Filter: it can do "
                                        "nothing"));
  }
  loaded.infos.push_back(std::move(info));
  loaded.plugins.push_back({.name = name, .factory = std::move(factory)});
  return absl::OkStatus();
}

absl::Status AddLibrary(const std::string& path, const schedsim_library* library,
                        absl::Span<const api::PluginInfo> known, LoadedPlugins& loaded) {
  if (library == nullptr) return Invalid(path, absl::StrCat(kEntryPoint, " returned nothing"));
  if (library->abi_version != SCHEDSIM_PLUGIN_ABI_VERSION) {
    return Invalid(path, absl::StrCat("was built for version ", library->abi_version,
                                      " of plugin_abi.h, expected ", SCHEDSIM_PLUGIN_ABI_VERSION,
                                      ": build it again with the headers of this schedsim"));
  }
  if (library->host_size > sizeof(schedsim_host)) {
    return Invalid(path, "needs functions that this schedsim lacks: build it again with its headers");
  }
  for (size_t i = 0; i < library->plugin_count; ++i) {
    RETURN_IF_ERROR(AddPlugin(path, library->plugins[i], known, loaded));
  }
  if (library->plugin_count == 0) return Invalid(path, "a library without a plugin");
  return absl::OkStatus();
}

absl::Status AddPluginLibrary(const std::string& path, absl::Span<const api::PluginInfo> known,
                              LoadedPlugins& loaded) {
  PluginCall::InstallCrashHandler();
  const schedsim_library* library = nullptr;
  const PluginCall at_work(path.c_str(), "its load", nullptr);
  ASSIGN_OR_RETURN(library, OpenLibrary(path, Host()));
  return AddLibrary(path, library, known, loaded);
}

absl::StatusOr<LoadedPlugins> LoadPluginLibraries(absl::Span<const std::string> paths,
                                                  absl::Span<const api::PluginInfo> known) {
  LoadedPlugins loaded;
  for (const std::string& path : paths) RETURN_IF_ERROR(AddPluginLibrary(path, known, loaded));
  return loaded;
}

}  // namespace schedsim::hosting
