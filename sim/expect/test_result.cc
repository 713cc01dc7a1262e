#include "sim/expect/test_result.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

using codec::Value;

bool Fails(const Verdict& verdict) { return !verdict.failures.empty(); }

int64_t FailureCount(const TestResult& result) {
  return std::count_if(result.verdicts.begin(), result.verdicts.end(), Fails);
}

// `path:line` of the expectation.
std::string PlaceOf(const TestResult& result, const Verdict& verdict) {
  return absl::StrCat(result.path,
                      verdict.position.line == 0 ? "" : absl::StrCat(":", verdict.position.line));
}

std::string SeedText(const TestResult& result) {
  return result.seed == 0 ? "" : absl::StrCat(", seed ", result.seed);
}

std::string TextOf(const Value& map, absl::string_view key) {
  const Value* const value = map.Find(key);
  return value == nullptr ? std::string() : std::string(value->text);
}

int64_t NumberOf(const Value& map, absl::string_view key) {
  int64_t number = 0;
  return absl::SimpleAtoi(TextOf(map, key), &number) ? number : 0;
}

std::vector<std::string> TextsOf(const Value& map, absl::string_view key) {
  std::vector<std::string> texts;
  const Value* const list = map.Find(key);
  if (list == nullptr) return texts;
  for (const Value& item : list->items) texts.emplace_back(item.text);
  return texts;
}

void WriteTexts(absl::string_view key, const std::vector<std::string>& texts, codec::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

TestResult ResultOf(const Value& file) {
  TestResult result = {.path = TextOf(file, "path"),
                       .error = TextOf(file, "error"),
                       .notices = TextsOf(file, "notices"),
                       .inputs = TextsOf(file, "inputs"),
                       .verdicts = {},
                       .seed_count = NumberOf(file, "seeds"),
                       .seed = static_cast<uint64_t>(NumberOf(file, "seed")),
                       .run_options = TextOf(file, "runOptions")};
  const Value* const updated = file.Find("updated");
  result.is_updated = updated != nullptr && updated->boolean;
  const Value* const list = file.Find("expectations");
  if (list == nullptr) return result;
  for (const Value& item : list->items) {
    Verdict& verdict = result.verdicts.emplace_back();
    verdict.name = TextOf(item, "name");
    verdict.position = {.line = static_cast<int32_t>(NumberOf(item, "line")),
                        .column = static_cast<int32_t>(NumberOf(item, "column"))};
    verdict.failures = TextsOf(item, "failures");
    verdict.pod = TextOf(item, "pod");
    verdict.explanation = TextOf(item, "explanation");
  }
  return result;
}

// Why the pod to blame is where it is, under the failures.
void AppendExplanation(const Verdict& verdict, std::string& text) {
  if (verdict.explanation.empty()) return;
  for (const absl::string_view line : absl::StrSplit(verdict.explanation, '\n'))
    absl::StrAppend(&text, line.empty() ? "" : "      ", line, "\n");
}

// The line that an error has as a place in the file, as in "path:7:3: what"; 0: it has none.
int32_t LineOf(absl::string_view error, absl::string_view path) {
  int32_t line = 0;
  const bool has_place = absl::ConsumePrefix(&error, path) && absl::ConsumePrefix(&error, ":");
  return has_place && absl::SimpleAtoi(error.substr(0, error.find(':')), &line) ? line : 0;
}

// What GitHub reads as a part of the command.
std::string GitHubValue(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}, {":", "%3A"}, {",", "%2C"}});
}
std::string GitHubMessage(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}

// XML has no way to write U+FFFE and U+FFFF.
std::string Xml(absl::string_view text) {
  return absl::StrReplaceAll(Printable(text), {{"&", "&amp;"},
                                               {"<", "&lt;"},
                                               {">", "&gt;"},
                                               {"\"", "&quot;"},
                                               {"\xef\xbf\xbe", "\\ufffe"},
                                               {"\xef\xbf\xbf", "\\uffff"}});
}

}  // namespace

bool TestResult::Passed() const { return error.empty() && FailureCount(*this) == 0; }

std::string TestResultsJson(const std::vector<TestResult>& results) {
  codec::JsonWriter json;
  json.BeginObject()
      .Field("apiVersion", "schedsim/v1")
      .Field("kind", "TestResults")
      .Key("files")
      .BeginArray();
  for (const TestResult& result : results) {
    json.BeginObject().Field("path", result.path).Key("passed").Bool(result.Passed());
    json.Field("error", result.error).Field("seeds", result.seed_count);
    json.Field("seed", static_cast<int64_t>(result.seed)).Field("runOptions", result.run_options);
    json.Key("updated").Bool(result.is_updated);
    WriteTexts("notices", result.notices, json);
    WriteTexts("inputs", result.inputs, json);
    json.Key("expectations").BeginArray();
    for (const Verdict& verdict : result.verdicts) {
      json.BeginObject().Field("name", verdict.name).Field("line", int64_t{verdict.position.line});
      json.Field("column", int64_t{verdict.position.column}).Field("pod", verdict.pod);
      WriteTexts("failures", verdict.failures, json);
      json.Field("explanation", verdict.explanation);
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return json.text() + "\n";
}

absl::StatusOr<std::vector<TestResult>> ParseTestResults(const std::string& json) {
  std::vector<TestResult> results;
  RETURN_IF_ERROR(codec::ReadText(json, "results.json", {}, [&results](const codec::Document& document) {
    const Value* const files = document.root.Find("files");
    if (files == nullptr) return absl::InvalidArgumentError("results.json: files: expected a list, got none");
    for (const Value& file : files->items) results.push_back(ResultOf(file));
    return absl::OkStatus();
  }));
  return results;
}

std::string TestResultsText(const std::vector<TestResult>& results) {
  std::string text;
  int64_t passed = 0;
  for (const TestResult& result : results) {
    const size_t count = result.verdicts.size();
    absl::StrAppend(&text, result.Passed() ? "ok    " : "FAIL  ", Printable(result.path));
    if (result.error.empty()) {
      absl::StrAppend(&text, "  ", count, count == 1 ? " expectation" : " expectations");
      if (result.seed_count > 0)
        absl::StrAppend(&text, ", ", result.seed_count, result.seed_count == 1 ? " seed" : " seeds");
      if (result.is_updated) absl::StrAppend(&text, ", placements written");
    }
    absl::StrAppend(&text, "\n");
    for (const absl::string_view line : absl::StrSplit(result.error, '\n', absl::SkipEmpty()))
      absl::StrAppend(&text, "  ", Printable(line), "\n");
    for (const Verdict& verdict : result.verdicts) {
      if (!Fails(verdict)) continue;
      absl::StrAppend(&text, "  ", Printable(PlaceOf(result, verdict)), ": ", Printable(verdict.name),
                      SeedText(result), "\n");
      for (const std::string& failure : verdict.failures)
        absl::StrAppend(&text, "    ", Printable(failure), "\n");
      AppendExplanation(verdict, text);
    }
    if (result.seed > 0 && !result.Passed()) {
      absl::StrAppend(&text, "  again with: schedsim test ", Printable(result.path), " --seeds ", result.seed,
                      result.run_options, "\n");
    }
    passed += result.Passed() ? 1 : 0;
  }
  absl::StrAppend(&text, passed, " passed, ", static_cast<int64_t>(results.size()) - passed, " failed\n");
  return text;
}

std::string TestResultsGitHub(const std::vector<TestResult>& results) {
  std::string text;
  for (const TestResult& result : results) {
    const std::string file = absl::StrCat("::error file=", GitHubValue(result.path));
    if (!result.error.empty()) {
      const int32_t line = LineOf(result.error, result.path);
      absl::StrAppend(&text, file, line == 0 ? "" : absl::StrCat(",line=", line),
                      "::", GitHubMessage(result.error), "\n");
    }
    for (const Verdict& verdict : result.verdicts) {
      if (!Fails(verdict)) continue;
      absl::StrAppend(&text, file, ",line=", std::max(verdict.position.line, 1),
                      ",title=", GitHubValue(verdict.name),
                      "::", GitHubMessage(absl::StrJoin(verdict.failures, "\n")), "\n");
    }
  }
  return text;
}

std::string TestResultsJUnit(const std::vector<TestResult>& results) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const TestResult& result : results) {
    const bool has_error = !result.error.empty();
    absl::StrAppend(&text, "  <testsuite name=\"", Xml(result.path), "\" tests=\"",
                    result.verdicts.size() + (has_error ? 1 : 0), "\" failures=\"", FailureCount(result),
                    "\" errors=\"", has_error ? 1 : 0, "\">\n");
    if (has_error) {
      absl::StrAppend(&text, "    <testcase name=\"run\" classname=\"", Xml(result.path),
                      "\"><error message=\"", Xml(result.error), "\"/></testcase>\n");
    }
    for (const Verdict& verdict : result.verdicts) {
      absl::StrAppend(&text, "    <testcase name=\"", Xml(verdict.name), "\" classname=\"", Xml(result.path),
                      "\"");
      if (!Fails(verdict)) {
        absl::StrAppend(&text, "/>\n");
        continue;
      }
      absl::StrAppend(&text, "><failure message=\"", Xml(verdict.failures[0] + SeedText(result)), "\">",
                      Xml(PlaceOf(result, verdict)), "\n");
      for (const std::string& failure : verdict.failures) absl::StrAppend(&text, Xml(failure), "\n");
      for (const absl::string_view line : absl::StrSplit(verdict.explanation, '\n', absl::SkipEmpty()))
        absl::StrAppend(&text, Xml(line), "\n");
      absl::StrAppend(&text, "</failure></testcase>\n");
    }
    absl::StrAppend(&text, "  </testsuite>\n");
  }
  return text + "</testsuites>\n";
}

}  // namespace schedsim::sim
