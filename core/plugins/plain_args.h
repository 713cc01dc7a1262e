// The arguments of plugins that need no struct of their own.
#ifndef SCHEDSIM_CORE_PLUGINS_PLAIN_ARGS_H_
#define SCHEDSIM_CORE_PLUGINS_PLAIN_ARGS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/quantity.h"
#include "core/api/scheduler_config.h"

namespace schedsim::plugins {

// Reads members by name. What is absent keeps its value; what is wrong is told in the end.
class PlainArgs {
 public:
  explicit PlainArgs(const api::PluginArgs& args);

  void Read(absl::string_view name, bool& target);
  void Read(absl::string_view name, int64_t& target);
  // Any finite number.
  void Read(absl::string_view name, double& target);
  void Read(absl::string_view name, std::string& target);
  // A text or a number.
  void Read(absl::string_view name, api::Quantity& target);
  // One of `values`.
  void ReadOneOf(absl::string_view name, const std::vector<absl::string_view>& values, std::string& target);
  // A map of names that are free to numbers; `set` is called for each, in the order of the text.
  void ReadNumbers(absl::string_view name, const std::function<void(const std::string&, double)>& set);
  // A map with members of its own; `read` is called with them.
  void ReadMap(absl::string_view name, const std::function<void(PlainArgs&)>& read);
  // A list of such maps; `read` is called for each.
  void ReadMaps(absl::string_view name, const std::function<void(PlainArgs&)>& read);
  bool Has(absl::string_view name) const;

  // What is wrong with the member `name` beyond its type. Only the first error counts.
  void Error(absl::string_view name, absl::string_view expected);

  // InvalidArgument for the first member that had another type, or that nobody asked for; kind and apiVersion
  // are passed over.
  absl::Status Finish() const;

 private:
  // A part of the arguments, called `path` in messages.
  PlainArgs(std::vector<api::ArgsField> fields, std::string path);

  // The member, or nullptr.
  const api::ArgsField* Find(absl::string_view name) const;
  // The member, if it is of this type; nullptr otherwise, which is an error where it is of another.
  const api::ArgsField* Take(absl::string_view name, api::ArgsField::Type type, absl::string_view expected);
  bool Is(absl::string_view name, api::ArgsField::Type type) const;
  // What is below a path, by names from there: `.` members of a map, `[` items of a list.
  std::vector<api::ArgsField> Below(absl::string_view path) const;
  void ReadPart(const std::string& path, const std::function<void(PlainArgs&)>& read);

  // Also those of members, behind them: `resources`, `resources[0]`, `resources[0].name`.
  std::vector<api::ArgsField> fields_;
  std::string path_ = "args";
  std::vector<std::string> known_;
  absl::Status error_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_PLAIN_ARGS_H_
