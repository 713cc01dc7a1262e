// The commands of the program as data, for what is made of all of them: completions and the manual page.
#ifndef SCHEDSIM_TOOLS_COMMAND_TREE_H_
#define SCHEDSIM_TOOLS_COMMAND_TREE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace CLI {
class App;
}

namespace schedsim::tools {

// An option, or an argument that has its place instead of a name.
struct ArgumentInfo {
  // "-f", "--filename", in the order in which help has them; of an argument its name, "SCENARIO".
  std::vector<std::string> names;
  std::string description;
  // Of its value, as help has it: "FILE", "{text,json}"; "": it has none, or it is an argument.
  std::string type;
  // Of a value that is one of a few.
  std::vector<std::string> choices;
  std::string default_text;  // "": there is none.
  bool takes_value = false;
  bool takes_file = false;  // Its value is the path of a file or a folder.
  bool is_required = false;
  bool is_repeatable = false;
};

struct CommandInfo {
  std::string name;
  std::vector<std::string> path;  // The names from the program's on, its own included.
  std::string description;
  std::string footer;  // Exit codes and examples.
  std::vector<ArgumentInfo> options;
  std::vector<ArgumentInfo> arguments;
  std::vector<CommandInfo> commands;
};

// Without what help does not show.
CommandInfo DescribeCommand(const CLI::App& program);

// What is added to an error about the name `text`: "; did you mean NAME?", or "" where none of `names` is
// near.
std::string Suggestion(absl::string_view text, const std::vector<std::string>& names);

// Calls `visit` with the command and all below it, each before those below it.
template <typename Visit>
void ForEachCommand(const CommandInfo& command, const Visit& visit) {
  visit(command);
  for (const CommandInfo& below : command.commands) ForEachCommand(below, visit);
}

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_COMMAND_TREE_H_
