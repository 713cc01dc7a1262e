// The repository as the tidy tests see it: sources, includes, functions.
#ifndef SCHEDSIM_TESTS_TIDY_SOURCES_H_
#define SCHEDSIM_TESTS_TIDY_SOURCES_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim {

using Strings = std::vector<std::string>;

struct SourceFile {
  std::string path;  // From the root of the repository.
  std::string text;
  std::string code;  // `text` with comments and the contents of literals blanked; same lines.
};

// The root of the repository.
const std::filesystem::path& Root();

std::string ReadText(const std::filesystem::path& path);

// Blanks the contents of literals, and comments too unless `keep_comments`; keeps quotes and line feeds.
std::string CodeOf(absl::string_view text, bool keep_comments = false);

// All files below the folders of sources whose name ends so (".cc"), sorted by path.
Strings ListFiles(const Strings& endings);

// All .cc and .h files below the folders of sources, sorted by path.
const std::vector<SourceFile>& Sources();

bool IsWordCharacter(char c);

bool IsBelowAnyOf(absl::string_view path, const Strings& prefixes);

// The line of a position, from 1.
int64_t LineAt(absl::string_view text, size_t position);

// The positions of `word` in `text` that no other word runs into.
std::vector<size_t> FindAll(absl::string_view text, absl::string_view word);

struct Include {
  std::string path;
  int64_t line;
};

std::vector<Include> IncludesOf(const SourceFile& file);

struct Function {
  int64_t first_line;
  int64_t line_count;
};

// Functions outside of other functions, by braces: `code` as in SourceFile.
std::vector<Function> FunctionsOf(absl::string_view code);

struct LongLine {
  int64_t line;
  int64_t length;  // In characters.
};

// Lines of more than `length_max` characters. Left out are lines that cannot be broken well: those with an
// address, and those that are part of a literal, or a literal with a few signs around it.
std::vector<LongLine> LongLinesOf(absl::string_view text, int64_t length_max);

// "NodeResourcesFit" of "node_resources_fit".
std::string CamelCase(absl::string_view snake_case);

// "fit" of "core/plugins/fit.cc".
std::string StemOf(absl::string_view path);

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_TIDY_SOURCES_H_
