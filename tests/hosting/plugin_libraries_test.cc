// Which libraries are taken, and what is said of those that are not.
#include "core/hosting/library/plugin_libraries.h"

#include <string>
#include <vector>

#include "core/hosting/library/host_functions.h"
#include "core/plugins/registry.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim::hosting {
namespace {

std::vector<api::PluginInfo> Known() { return plugins::KnownPlugins(api::KubernetesLine::k1_37); }

std::string ErrorOf(const std::string& path) {
  return std::string(LoadPluginLibraries({path}, Known()).status().message());
}

TEST(PluginLibraries, AreLoadedWithTheirExtensionPoints) {
  const auto loaded = LoadPluginLibraries({SCHEDSIM_SCRIPTED_PLUGINS}, Known());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::vector<std::string> names;
  for (const api::PluginInfo& info : loaded->infos) names.push_back(info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"ScriptedA", "ScriptedB", "ScriptedC", "Plain", "LowFirst"}));
  const auto has = [&loaded](size_t plugin, api::ExtensionPoint point) {
    return loaded->infos[plugin].points.test(static_cast<size_t>(point));
  };
  EXPECT_TRUE(has(0, api::ExtensionPoint::kFilter));
  EXPECT_FALSE(has(0, api::ExtensionPoint::kQueueSort));
  EXPECT_TRUE(has(4, api::ExtensionPoint::kQueueSort));
  EXPECT_FALSE(has(4, api::ExtensionPoint::kFilter));
}

TEST(PluginLibraries, WhatIsNoneIsNamed) {
  EXPECT_EQ(ErrorOf("/nowhere/libmine.so"),
            "/nowhere/libmine.so: No such file or directory, expected a readable file or folder");
  const TestFolder folder;
  const std::string text = folder.Write("text.so", "no library");
  EXPECT_EQ(ErrorOf(text).find(text + ": cannot be loaded, expected a shared library: "), 0u)
      << ErrorOf(text);
  EXPECT_EQ(ErrorOf("-"), "-: expected the file of a shared library");
}

TEST(PluginLibraries, ALibraryWithTakenNamesIsRefused) {
  const auto twice = LoadPluginLibraries({SCHEDSIM_SCRIPTED_PLUGINS, SCHEDSIM_SCRIPTED_PLUGINS}, Known());
  EXPECT_EQ(twice.status().message(),
            SCHEDSIM_SCRIPTED_PLUGINS ": there is a plugin ScriptedA already, expected another name");
}

// ---- Libraries that were built with something else ----

void* Create(schedsim_handle*, schedsim_status*) { return nullptr; }
void Destroy(void*) {}

struct Fake {
  schedsim_plugin plugin = {.size = sizeof(schedsim_plugin), .name = Text("Mine")};
  const schedsim_plugin* plugins[1] = {&plugin};
  schedsim_library library = {.abi_version = SCHEDSIM_PLUGIN_ABI_VERSION,
                              .host_size = sizeof(schedsim_host),
                              .plugin_count = 1,
                              .plugins = plugins};

  Fake() {
    plugin.create = Create;
    plugin.destroy = Destroy;
  }
  Fake(const Fake&) = delete;
  Fake& operator=(const Fake&) = delete;

  std::string Error() const {
    LoadedPlugins loaded;
    return std::string(AddLibrary("libmine.so", &library, Known(), loaded).message());
  }
};

TEST(PluginLibraries, AreRefusedWhereTheInterfaceIsAnother) {
  EXPECT_EQ(Fake().Error(), "");
  Fake version;
  version.library.abi_version = 7;
  EXPECT_EQ(
      version.Error(),
      "libmine.so: was built for version 7 of plugin_abi.h, expected 1: build it again with the headers "
      "of this schedsim");
  Fake newer;
  newer.library.host_size += 8;
  EXPECT_EQ(newer.Error(),
            "libmine.so: needs functions that this schedsim lacks: build it again with its headers");
  Fake size;
  size.plugin.size = 16;
  EXPECT_EQ(size.Error().find("libmine.so: a plugin of 16 bytes, expected "), 0u) << size.Error();
  Fake empty;
  empty.library.plugin_count = 0;
  EXPECT_EQ(empty.Error(), "libmine.so: a library without a plugin");
}

TEST(PluginLibraries, HalfAPluginIsRefused) {
  Fake nameless;
  nameless.plugin.name = Text("");
  EXPECT_EQ(nameless.Error(), "libmine.so: a plugin without a name, expected one that can be printed");
  Fake in_tree;
  in_tree.plugin.name = Text("NodeName");
  EXPECT_EQ(in_tree.Error(), "libmine.so: there is a plugin NodeName already, expected another name");
  Fake lacks;
  lacks.plugin.create = nullptr;
  EXPECT_EQ(lacks.Error(), "libmine.so: plugin Mine lacks create or destroy");
  Fake reserves;
  reserves.plugin.unreserve = [](void*, schedsim_state*, const schedsim_pod*, schedsim_text) {};
  EXPECT_EQ(reserves.Error(),
            "libmine.so: plugin Mine has one of Reserve and Unreserve, expected both or neither");
}

}  // namespace
}  // namespace schedsim::hosting
