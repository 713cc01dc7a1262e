#include "sim/formats/prometheus_samples.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// Quantities have no more digits behind the point.
constexpr size_t kFractionDigitsMax = 9;

struct Sample {
  std::string series;
  std::string node;  // "": it is about no node.
  double time = -std::numeric_limits<double>::infinity();
  std::string value;
};

// A text of a text format, up to where it has been read.
class LineReader {
 public:
  explicit LineReader(absl::string_view line) : rest_(line) {}

  void SkipBlanks() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  bool Take(char c) {
    SkipBlanks();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Letters, digits, `_` and `:`.
  std::string TakeName() {
    SkipBlanks();
    size_t end = 0;
    while (end < rest_.size() &&
           (absl::ascii_isalnum(rest_[end]) || rest_[end] == '_' || rest_[end] == ':')) {
      ++end;
    }
    const std::string name(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return name;
  }
  // In quotes, with backslashes.
  std::optional<std::string> TakeQuoted() {
    if (!Take('"')) return std::nullopt;
    std::string text;
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) {
        ++i;
        text += rest_[i] == 'n' ? '\n' : rest_[i];
      } else {
        text += rest_[i];
      }
    }
    return std::nullopt;
  }
  absl::string_view rest() const { return rest_; }

 private:
  absl::string_view rest_;
};

// `name{label="text",...} value [milliseconds]`
std::optional<Sample> ReadLine(absl::string_view line) {
  LineReader reader(line);
  Sample sample;
  sample.series = reader.TakeName();
  if (sample.series.empty()) return std::nullopt;
  if (reader.Take('{')) {
    while (!reader.Take('}')) {
      const std::string label = reader.TakeName();
      std::optional<std::string> text;
      if (label.empty() || !reader.Take('=') || !(text = reader.TakeQuoted()).has_value())
        return std::nullopt;
      if (label == "node") sample.node = *std::move(text);
      if (!reader.Take(',') && !absl::StartsWith(absl::StripLeadingAsciiWhitespace(reader.rest()), "}")) {
        return std::nullopt;
      }
    }
  }
  const std::vector<absl::string_view> words =
      absl::StrSplit(reader.rest(), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  if (words.empty() || words.size() > 2) return std::nullopt;
  double number = 0;
  if (!absl::SimpleAtod(words[0], &number)) return std::nullopt;
  sample.value = std::string(words[0]);
  if (words.size() == 2 && !absl::SimpleAtod(words[1], &sample.time)) return std::nullopt;
  return sample;
}

// A finite number as a quantity, cut behind the last digit that it may have; absent: it is none.
std::optional<std::string> QuantityOf(const std::string& value) {
  double number = 0;
  if (!absl::SimpleAtod(value, &number) || !std::isfinite(number)) return std::nullopt;
  const bool is_plain = value.find_first_not_of("+-0123456789.") == std::string::npos;
  std::string text = is_plain ? value : absl::StrFormat("%.20f", number);
  const size_t point = text.find('.');
  if (point != std::string::npos) text = text.substr(0, point + 1 + kFractionDigitsMax);
  absl::string_view cut = text;
  absl::ConsumeSuffix(&cut, ".");
  return std::string(absl::StartsWith(cut, ".") ? absl::StrCat("0", cut) : cut);
}

// The newest values by node and series.
class Samples {
 public:
  absl::Status Add(const Sample& sample, absl::string_view place) {
    if (sample.node.empty()) return absl::OkStatus();
    const std::optional<std::string> quantity = QuantityOf(sample.value);
    if (!quantity.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": the sample of ", Printable(sample.series, kShownBytesMax), " for node ",
                       Printable(sample.node, kShownBytesMax), ": expected a finite number, got ",
                       Printable(sample.value, kShownBytesMax)));
    }
    auto& [time, value] = nodes_[sample.node].try_emplace(sample.series, sample.time, "").first->second;
    if (sample.time < time) return absl::OkStatus();
    time = sample.time;
    value = *quantity;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ToJson(absl::string_view file) const {
    if (nodes_.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": no sample has the label node, expected one for each node"));
    }
    std::string json = R"({"apiVersion":"v1","kind":"List","items":[)";
    for (const auto& [node, series] : nodes_) {
      absl::StrAppend(&json, json.back() == '[' ? "" : ",",
                      R"({"apiVersion":"metrics.k8s.io/v1beta1","kind":"NodeMetrics","metadata":{"name":)");
      codec::AppendJsonString(node, json);
      json += R"(},"usage":{)";
      for (const auto& [name, timed] : series) {
        if (json.back() != '{') json += ",";
        codec::AppendJsonString(name, json);
        json += ":";
        codec::AppendJsonString(timed.second, json);
      }
      json += "}}";
    }
    return json + "]}\n";
  }

 private:
  using Series = std::map<std::string, std::pair<double, std::string>>;  // By name: time and value.
  std::map<std::string, Series> nodes_;
};

absl::Status ReadLines(absl::string_view content, absl::string_view file, Samples& samples) {
  int64_t number = 0;
  for (const absl::string_view line : absl::StrSplit(content, '\n')) {
    ++number;
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (text.empty() || text[0] == '#') continue;
    const std::string place = absl::StrCat(file, ":", number);
    const std::optional<Sample> sample = ReadLine(text);
    if (!sample.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": `", Printable(text, kShownBytesMax),
                       "` is no sample, expected NAME{LABEL=\"TEXT\"} VALUE [MILLISECONDS]"));
    }
    RETURN_IF_ERROR(samples.Add(*sample, place));
  }
  return absl::OkStatus();
}

std::string TextOf(const Value* map, absl::string_view key) {
  const Value* const value = map == nullptr ? nullptr : map->Find(key);
  return value != nullptr && value->is_string() ? std::string(value->text) : "";
}

// `{"metric": {"__name__": NAME, "node": NODE}, "value": [SECONDS, "VALUE"]}`
absl::Status AddResult(const Value& result, absl::string_view file, Samples& samples) {
  const Value* const metric = result.Find("metric");
  const Value* const value = result.Find("value");
  const std::string place = absl::StrCat(file, ":", result.position.line);
  const bool is_pair =
      value != nullptr && value->is_array() && value->items.size() == 2 && value->items[1].is_string();
  Sample sample = {.series = TextOf(metric, "__name__"), .node = TextOf(metric, "node")};
  if (!is_pair || sample.series.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        place, ": expected a result with metric, of which __name__ is a part, and value, a time and a text"));
  }
  if (!absl::SimpleAtod(value->items[0].text, &sample.time)) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": value[0]: expected seconds"));
  }
  sample.value = std::string(value->items[1].text);
  return samples.Add(sample, place);
}

absl::Status ReadAnswer(const Value& answer, absl::string_view file, Samples& samples) {
  if (TextOf(&answer, "status") != "success") {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": the query failed: ", Printable(TextOf(&answer, "error"), kShownBytesMax)));
  }
  const Value* const warnings = answer.Find("warnings");
  if (warnings != nullptr && !warnings->items.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": the answer has warnings, with which the plugins take none of it"));
  }
  const Value* const data = answer.Find("data");
  const std::string type = TextOf(data, "resultType");
  const Value* const results = data == nullptr ? nullptr : data->Find("result");
  if (type != "vector" || results == nullptr || !results->is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": data.resultType: expected vector, the answer to a query for one time, got ",
                     Printable(type, kShownBytesMax)));
  }
  for (const Value& result : results->items) RETURN_IF_ERROR(AddResult(result, file, samples));
  return absl::OkStatus();
}

// `{"status":` with blanks between.
bool IsAnswer(absl::string_view content) {
  content = absl::StripLeadingAsciiWhitespace(content);
  if (!absl::ConsumePrefix(&content, "{")) return false;
  content = absl::StripLeadingAsciiWhitespace(content);
  if (!absl::ConsumePrefix(&content, "\"status\"")) return false;
  content = absl::StripLeadingAsciiWhitespace(content);
  if (!absl::ConsumePrefix(&content, ":")) return false;
  content = absl::StripLeadingAsciiWhitespace(content);
  return absl::StartsWith(content, "\"success\"") || absl::StartsWith(content, "\"error\"");
}

}  // namespace

bool HasPrometheusSamples(absl::string_view content) {
  if (IsAnswer(content)) return true;
  for (const absl::string_view line : absl::StrSplit(content, '\n')) {
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (text.empty()) continue;
    if (absl::StartsWith(text, "# HELP ") || absl::StartsWith(text, "# TYPE ")) return true;
    // Without these, a line is only like a sample where it has labels.
    return text[0] != '#' && absl::StrContains(text, "{") && absl::StrContains(text, "=\"") &&
           ReadLine(text).has_value();
  }
  return false;
}

absl::StatusOr<std::string> NodeMetricsOfSamples(const std::string& content, absl::string_view file) {
  Samples samples;
  if (IsAnswer(content)) {
    RETURN_IF_ERROR(codec::ReadText(content, file, {}, [&](const codec::Document& document) {
      return ReadAnswer(document.root, file, samples);
    }));
  } else {
    RETURN_IF_ERROR(ReadLines(content, file, samples));
  }
  return samples.ToJson(file);
}

}  // namespace schedsim::sim
