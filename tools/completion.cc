#include "tools/completion.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace schedsim::tools {
namespace {

// A word within single quotes, as bash and zsh read it.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::vector<std::string> NamesOf(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names;
  for (const CommandInfo& command : commands) names.push_back(command.name);
  return names;
}

// Below the program: "snapshot save"; "" for itself.
std::string PathBelow(const CommandInfo& command) {
  return absl::StrJoin(command.path.begin() + 1, command.path.end(), " ");
}

bool TakesFiles(const CommandInfo& command) {
  for (const ArgumentInfo& argument : command.arguments) {
    if (argument.takes_file) return true;
  }
  return false;
}

std::vector<std::string> ChoicesOf(const CommandInfo& command) {
  for (const ArgumentInfo& argument : command.arguments) {
    if (!argument.choices.empty()) return argument.choices;
  }
  return {};
}

// ---- bash ----

// `path:option) ...` for each option with a value, behind which that value is completed.
std::string BashValues(const CommandInfo& command) {
  std::string text;
  for (const ArgumentInfo& option : command.options) {
    if (!option.takes_value) continue;
    const std::string labels = absl::StrJoin(option.names, " | ", [&](std::string* out, const auto& name) {
      absl::StrAppend(out, Quoted(absl::StrCat(PathBelow(command), ":", name)));
    });
    const std::string words = option.choices.empty() ? "" : Quoted(absl::StrJoin(option.choices, " "));
    absl::StrAppend(&text, "    ", labels, ") ",
                    !words.empty()      ? absl::StrCat("words=", words, " ;;\n")
                    : option.takes_file ? "files=yes ;;\n"
                                        : "return ;;\n");
  }
  return text;
}

std::string BashWords(const CommandInfo& command) {
  std::vector<std::string> options;
  for (const ArgumentInfo& option : command.options)
    options.insert(options.end(), option.names.begin(), option.names.end());
  std::vector<std::string> words = NamesOf(command.commands);
  const std::vector<std::string> choices = ChoicesOf(command);
  words.insert(words.end(), choices.begin(), choices.end());
  return absl::StrCat("      ", Quoted(PathBelow(command)),
                      ")\n        options=", Quoted(absl::StrJoin(options, " ")),
                      "\n        words=", Quoted(absl::StrJoin(words, " ")),
                      TakesFiles(command) ? "\n        files=yes" : "", " ;;\n");
}

// ---- zsh ----

std::string ZshText(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"'", "'\\''"}});
}

std::string ZshAction(const ArgumentInfo& argument) {
  if (!argument.choices.empty()) return absl::StrCat("(", absl::StrJoin(argument.choices, " "), ")");
  return argument.takes_file ? "_files" : "";
}

std::string ZshFunction(const CommandInfo& command) {
  return absl::StrCat("_", absl::StrReplaceAll(absl::StrJoin(command.path, "_"), {{"-", "_"}}));
}

std::string ZshSpecs(const CommandInfo& command) {
  std::string text;
  for (const ArgumentInfo& option : command.options) {
    const std::string names = option.names.size() == 1
                                  ? option.names[0]
                                  : absl::StrCat("'{", absl::StrJoin(option.names, ","), "}'");
    const std::string others =
        option.is_repeatable ? "*" : absl::StrCat("(", absl::StrJoin(option.names, " "), ")");
    absl::StrAppend(&text, " \\\n    '", others, names, "[", ZshText(option.description), "]",
                    option.takes_value ? absl::StrCat(":value:", ZshAction(option)) : "", "'");
  }
  return text;
}

std::string ZshCommand(const CommandInfo& command) {
  std::string text = absl::StrCat(ZshFunction(command), "() {\n");
  if (command.commands.empty()) {
    absl::StrAppend(&text, "  _arguments -s", ZshSpecs(command));
    for (const ArgumentInfo& argument : command.arguments) {
      absl::StrAppend(&text, " \\\n    '", argument.is_repeatable ? "*" : "", ":", ZshText(argument.names[0]),
                      ":", ZshAction(argument), "'");
    }
    return absl::StrCat(text, "\n}\n\n");
  }
  absl::StrAppend(&text, "  local state line\n  local -a commands=(");
  for (const CommandInfo& below : command.commands)
    absl::StrAppend(&text, "\n    '", below.name, ":", ZshText(below.description), "'");
  absl::StrAppend(&text, ")\n  _arguments -C", ZshSpecs(command),
                  " \\\n    '1:command:->command' '*::argument:->argument'\n  case $state in\n"
                  "    command) _describe command commands ;;\n    argument)\n      case $line[1] in\n");
  for (const CommandInfo& below : command.commands)
    absl::StrAppend(&text, "        ", below.name, ") ", ZshFunction(below), " ;;\n");
  return absl::StrCat(text, "      esac ;;\n  esac\n}\n\n");
}

// ---- fish ----

std::string FishText(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// The lines that hold while the command is the innermost one of the command line.
std::string FishCommand(const CommandInfo& command) {
  std::string text;
  const std::string start =
      absl::StrCat("complete -c schedsim -n ", FishText(absl::StrCat("__schedsim_at ", PathBelow(command))));
  for (const CommandInfo& below : command.commands)
    absl::StrAppend(&text, start, " -a ", below.name, " -d ", FishText(below.description), "\n");
  for (const ArgumentInfo& option : command.options) {
    text += start;
    for (const absl::string_view name : option.names) {
      const bool is_long = absl::StartsWith(name, "--");
      absl::StrAppend(&text, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
    }
    if (option.takes_value) text += option.takes_file ? " -r -F" : " -x";
    if (!option.choices.empty()) absl::StrAppend(&text, " -a ", FishText(absl::StrJoin(option.choices, " ")));
    absl::StrAppend(&text, " -d ", FishText(option.description), "\n");
  }
  if (TakesFiles(command)) absl::StrAppend(&text, start, " -F\n");
  const std::vector<std::string> choices = ChoicesOf(command);
  if (!choices.empty()) absl::StrAppend(&text, start, " -a ", FishText(absl::StrJoin(choices, " ")), "\n");
  return text;
}

}  // namespace

std::string BashCompletion(const CommandInfo& program) {
  std::string descents;
  std::string values;
  std::string words;
  ForEachCommand(program, [&](const CommandInfo& command) {
    for (const CommandInfo& below : command.commands) {
      absl::StrAppend(&descents, "      ", Quoted(absl::StrCat(PathBelow(command), ":", below.name)),
                      ") command=", Quoted(PathBelow(below)), " ;;\n");
    }
    values += BashValues(command);
    words += BashWords(command);
  });
  return absl::StrCat(
      "# Completion of schedsim for bash: source <(schedsim completion bash)\n"
      "_schedsim() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local command='' options='' words='' files='' is_value='yes' i\n"
      "  COMPREPLY=()\n"
      "  # bash splits --option=value at the sign.\n"
      "  if [[ $current == '=' ]]; then\n"
      "    current=''\n"
      "  elif [[ $previous == '=' && $COMP_CWORD -gt 1 ]]; then\n"
      "    previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$command:${COMP_WORDS[i]}\" in\n",
      descents,
      "    esac\n"
      "  done\n"
      "  case \"$command:$previous\" in\n",
      values,
      "    *) is_value='' ;;\n"
      "  esac\n"
      "  if [[ -z $is_value ]]; then\n"
      "    case \"$command\" in\n",
      words,
      "    esac\n"
      "    if [[ $current == -* ]]; then\n"
      "      words=$options\n"
      "      files=''\n"
      "    fi\n"
      "  fi\n"
      "  if [[ -n $words ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "  elif [[ -n $files ]]; then\n"
      "    compopt -o filenames 2>/dev/null\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
      "  fi\n"
      "}\n"
      "complete -F _schedsim schedsim\n");
}

std::string ZshCompletion(const CommandInfo& program) {
  std::string text =
      "#compdef schedsim\n# Completion of schedsim for zsh, for a file _schedsim in $fpath.\n\n";
  ForEachCommand(program, [&text](const CommandInfo& command) { text += ZshCommand(command); });
  return absl::StrCat(text,
                      "if [[ $funcstack[1] == _schedsim ]]; then\n  _schedsim \"$@\"\nelse\n"
                      "  compdef _schedsim schedsim\nfi\n");
}

std::string FishCompletion(const CommandInfo& program) {
  std::string paths;
  std::string lines;
  ForEachCommand(program, [&](const CommandInfo& command) {
    if (command.path.size() > 1) absl::StrAppend(&paths, " ", FishText(PathBelow(command)));
    lines += FishCommand(command);
  });
  return absl::StrCat(
      "# Completion of schedsim for fish: schedsim completion fish | source\n"
      "function __schedsim_at\n"
      "    set -l command ''\n"
      "    set -l words (commandline -opc)\n"
      "    for word in $words[2..-1]\n"
      "        set -l longer (string trim -- \"$command $word\")\n"
      "        contains -- $longer",
      paths,
      "\n"
      "        and set command $longer\n"
      "    end\n"
      "    test \"$command\" = \"$argv\"\n"
      "end\n"
      "complete -c schedsim -f\n",
      lines);
}

}  // namespace schedsim::tools
