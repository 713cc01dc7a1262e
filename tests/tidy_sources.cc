#include "tests/tidy_sources.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace schedsim {
namespace {

namespace fs = std::filesystem;

const char* const kSourceFolders[] = {"core", "sim", "tools", "tests", "benchmarks"};

// So many signs may stand beside a literal that is as long as it is: `ends_with(R"...");`.
constexpr int kSignsBesideLiteralMax = 12;

// The end of the literal that starts at `begin` of `text`: behind its closing quote.
size_t LiteralEnd(absl::string_view text, size_t begin) {
  const char quote = text[begin];
  if (quote == '"' && begin > 0 && text[begin - 1] == 'R') {
    const size_t open = text.find('(', begin);
    if (open == absl::string_view::npos) return text.size();
    const std::string close = absl::StrCat(")", text.substr(begin + 1, open - begin - 1), "\"");
    const size_t end = text.find(close, open);
    return end == absl::string_view::npos ? text.size() : end + close.size();
  }
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

bool HasEnding(const fs::path& path, const Strings& endings) {
  return std::find(endings.begin(), endings.end(), path.extension().string()) != endings.end();
}

// The brace behind `head` opens a scope whose members are measured one by one.
bool OpensContainer(absl::string_view head) {
  for (absl::string_view word : {"namespace", "class", "struct", "union", "enum", "extern"}) {
    if (!FindAll(head, word).empty() && !absl::StrContains(head, "(")) return true;
  }
  return false;
}

int64_t CharacterCount(absl::string_view text) {
  // Bytes that do not continue a character of UTF-8.
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

const fs::path& Root() {
  static const fs::path* const root = new fs::path(SCHEDSIM_SOURCE_DIR);
  return *root;
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool IsWordCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string CodeOf(absl::string_view text, bool keep_comments) {
  std::string code(text);
  const auto blank = [&code](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
  };
  size_t i = 0;
  while (i < text.size()) {
    size_t end = i + 1;
    if (text.substr(i, 2) == "//" || text.substr(i, 2) == "/*") {
      const absl::string_view close = text[i + 1] == '/' ? "\n" : "*/";
      const size_t found = text.find(close, i + 2);
      end = found == absl::string_view::npos ? text.size() : found + close.size();
      if (!keep_comments) blank(i, end);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !IsWordCharacter(text[i - 1])))) {
      end = LiteralEnd(text, i);
      blank(i + 1, end - 1);
    }
    i = end;
  }
  return code;
}

Strings ListFiles(const Strings& endings) {
  Strings paths;
  for (const char* folder : kSourceFolders) {
    if (!fs::exists(Root() / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(Root() / folder)) {
      if (!entry.is_regular_file() || !HasEnding(entry.path(), endings)) continue;
      paths.push_back(fs::relative(entry.path(), Root()).generic_string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

const std::vector<SourceFile>& Sources() {
  static const auto* const sources = [] {
    auto* files = new std::vector<SourceFile>;
    for (const std::string& path : ListFiles({".cc", ".h"})) {
      const std::string text = ReadText(Root() / path);
      files->push_back({.path = path, .text = text, .code = CodeOf(text)});
    }
    return files;
  }();
  return *sources;
}

bool IsBelowAnyOf(absl::string_view path, const Strings& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [path](absl::string_view prefix) { return absl::StartsWith(path, prefix); });
}

int64_t LineAt(absl::string_view text, size_t position) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(position), '\n');
}

std::vector<size_t> FindAll(absl::string_view text, absl::string_view word) {
  std::vector<size_t> positions;
  for (size_t at = text.find(word); at != absl::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool runs_on = IsWordCharacter(word.back()) && end < text.size() && IsWordCharacter(text[end]);
    const bool is_tail = at > 0 && IsWordCharacter(text[at - 1]) && IsWordCharacter(word.front());
    if (!runs_on && !is_tail) positions.push_back(at);
  }
  return positions;
}

std::vector<Include> IncludesOf(const SourceFile& file) {
  std::vector<Include> includes;
  int64_t line_number = 0;
  for (absl::string_view line : absl::StrSplit(file.text, '\n')) {
    ++line_number;
    if (!absl::StartsWith(line, "#include ")) continue;
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::ByAnyChar("\"<>"));
    if (parts.size() >= 2) includes.push_back({.path = std::string(parts[1]), .line = line_number});
  }
  return includes;
}

std::vector<Function> FunctionsOf(absl::string_view code) {
  std::vector<Function> functions;
  int container_depth = 0;
  int inner_depth = 0;  // Of braces inside a function or an initialiser.
  bool is_function = false;
  size_t head = 0;  // Where the text in front of the next brace begins.
  size_t function_begin = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '{' && inner_depth > 0) {
      ++inner_depth;
    } else if (code[i] == '{') {
      const absl::string_view text = absl::StripAsciiWhitespace(code.substr(head, i - head));
      if (OpensContainer(text)) {
        ++container_depth;
        head = i + 1;
        continue;
      }
      inner_depth = 1;
      is_function = !absl::EndsWith(text, "=");
      function_begin = text.empty() ? i : static_cast<size_t>(text.data() - code.data());
    } else if (code[i] == '}' && inner_depth > 0) {
      --inner_depth;
      if (inner_depth > 0) continue;
      const int64_t first = LineAt(code, function_begin);
      if (is_function) functions.push_back({.first_line = first, .line_count = LineAt(code, i) - first + 1});
      head = i + 1;
    } else if (code[i] == '}') {
      --container_depth;
      head = i + 1;
    } else if (inner_depth == 0 && (code[i] == ';' || code[i] == '#')) {
      if (code[i] == '#') i = std::min(code.find('\n', i), code.size() - 1);
      head = i + 1;
    }
  }
  return functions;
}

std::string CamelCase(absl::string_view snake_case) {
  std::string camel;
  for (absl::string_view word : absl::StrSplit(snake_case, '_', absl::SkipEmpty())) {
    camel.push_back(absl::ascii_toupper(static_cast<unsigned char>(word.front())));
    absl::StrAppend(&camel, word.substr(1));
  }
  return camel;
}

std::string StemOf(absl::string_view path) { return fs::path(std::string(path)).stem().string(); }

std::vector<LongLine> LongLinesOf(absl::string_view text, int64_t length_max) {
  const std::string code = CodeOf(text, /*keep_comments=*/true);
  const std::vector<absl::string_view> code_lines = absl::StrSplit(code, '\n');
  std::vector<LongLine> long_lines;
  size_t index = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view code_line = code_lines[index++];
    const int64_t length = CharacterCount(line);
    if (length <= length_max || absl::StrContains(line, "://")) continue;
    const auto signs = std::count_if(code_line.begin(), code_line.end(), [](char c) { return c != ' '; });
    if (signs <= kSignsBesideLiteralMax) continue;
    long_lines.push_back({.line = static_cast<int64_t>(index), .length = length});
  }
  return long_lines;
}

}  // namespace schedsim
