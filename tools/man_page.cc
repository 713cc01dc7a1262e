#include "tools/man_page.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/base/version.h"

namespace schedsim::tools {
namespace {

// Text as it is to be read: no character of it is one of roff's.
std::string Plain(absl::string_view text) {
  std::string plain = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  if (absl::StartsWith(plain, ".") || absl::StartsWith(plain, "'")) plain.insert(0, "\\&");
  return absl::StrReplaceAll(plain, {{"\n.", "\n\\&."}, {"\n'", "\n\\&'"}});
}

// As the argument of a macro.
std::string Word(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(Plain(text), {{"\"", "\\(dq"}}), "\"");
}

// "schedsim why [OPTIONS] POD TRACE".
std::string Synopsis(const CommandInfo& command) {
  std::string text = absl::StrJoin(command.path, " ");
  if (!command.options.empty()) text += " [OPTIONS]";
  for (const ArgumentInfo& argument : command.arguments) {
    const std::string name = absl::StrCat(argument.names[0], argument.is_repeatable ? "..." : "");
    absl::StrAppend(&text, " ", argument.is_required ? name : absl::StrCat("[", name, "]"));
  }
  if (!command.commands.empty()) text += " COMMAND";
  return text;
}

void AppendArgument(const ArgumentInfo& argument, std::string& text) {
  std::string head = absl::StrCat("\\fB", Plain(absl::StrJoin(argument.names, ", ")), "\\fR");
  if (!argument.type.empty()) absl::StrAppend(&head, " \\fI", Plain(argument.type), "\\fR");
  absl::StrAppend(&text, ".TP\n", head, "\n", Plain(argument.description));
  if (!argument.default_text.empty())
    absl::StrAppend(&text, " (default: ", Plain(argument.default_text), ")");
  text += ".\n";
}

// The exit codes and examples, line by line as help has them.
void AppendFooter(absl::string_view footer, std::string& text) {
  if (footer.empty()) return;
  absl::StrAppend(&text, ".PP\n.nf\n", Plain(footer), "\n.fi\n");
}

void AppendCommand(const CommandInfo& command, std::string& text) {
  absl::StrAppend(&text, ".SS ", Word(Synopsis(command)), "\n", Plain(command.description), ".\n");
  for (const ArgumentInfo& argument : command.arguments) AppendArgument(argument, text);
  for (const ArgumentInfo& option : command.options) AppendArgument(option, text);
  AppendFooter(command.footer, text);
}

}  // namespace

std::string ManPage(const CommandInfo& program) {
  std::string text = absl::StrCat(
      ".TH SCHEDSIM 1 ", Word(""), " ", Word(ProgramVersion()), " ", Word("User Commands"),
      "\n.SH NAME\nschedsim \\- simulate kube\\-scheduler in virtual time\n"
      ".SH SYNOPSIS\n.B ",
      Plain(Synopsis(program)), "\n.SH DESCRIPTION\n", Plain(program.description), "\n.SH OPTIONS\n");
  for (const ArgumentInfo& option : program.options) AppendArgument(option, text);
  AppendFooter(program.footer, text);
  text += ".SH COMMANDS\n";
  ForEachCommand(program, [&](const CommandInfo& command) {
    if (command.path.size() > 1) AppendCommand(command, text);
  });
  return text;
}

}  // namespace schedsim::tools
