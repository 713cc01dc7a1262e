// The arguments of plugins that need no struct of their own: a map of plain values.
#ifndef SCHEDSIM_CORE_PLUGINS_PLAIN_ARGS_H_
#define SCHEDSIM_CORE_PLUGINS_PLAIN_ARGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/scheduler_config.h"

namespace schedsim::plugins {

// Reads members by name. What is absent keeps its value; what is wrong is told in the end.
class PlainArgs {
 public:
  explicit PlainArgs(const api::PluginArgs& args);

  void Read(absl::string_view name, bool& target);
  void Read(absl::string_view name, int64_t& target);
  void Read(absl::string_view name, std::string& target);

  // InvalidArgument for the first member that had another type, or that nobody asked for; kind and apiVersion
  // are passed over.
  absl::Status Finish() const;

 private:
  // The member, if it is of this type; nullptr otherwise, which is an error where it is of another.
  const api::ArgsField* Take(absl::string_view name, api::ArgsField::Type type, absl::string_view expected);

  std::vector<api::ArgsField> fields_;
  std::vector<std::string> known_ = {"kind", "apiVersion"};
  absl::Status error_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_PLAIN_ARGS_H_
