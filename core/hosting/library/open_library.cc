#include "core/hosting/library/open_library.h"

#include <dlfcn.h>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"

namespace schedsim::hosting {
namespace {

absl::Status Invalid(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

absl::string_view LastError() {
  const char* const text = dlerror();
  return text == nullptr ? "no library" : text;
}

}  // namespace

absl::StatusOr<const schedsim_library*> OpenLibrary(const std::string& path, const schedsim_host& host) {
  if (codec::IsDescriptor(path)) return Invalid(path, "expected the file of a shared library");
  // A report says with which library a run was made.
  RETURN_IF_ERROR(codec::ReadFile(path).status());
  // The file is opened by its path, not looked for in the system's folders.
  const std::string file = absl::StrContains(path, '/') ? path : absl::StrCat("./", path);
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Invalid(path, absl::StrCat("cannot be loaded, expected a shared library: ", LastError()));
  }
  void* const entry = dlsym(library, kEntryPoint);
  if (entry == nullptr) {
    return Invalid(path, absl::StrCat("no library of plugins, expected one that defines ", kEntryPoint));
  }
  return reinterpret_cast<decltype(&schedsim_plugin_library)>(entry)(&host);
}

}  // namespace schedsim::hosting
