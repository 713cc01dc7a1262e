#include "sim/scenario/arrivals_file.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/value.h"
#include "sim/kernel/time_limits.h"

namespace schedsim::sim {
namespace {

// A row with the line that it begins in.
struct CsvRow {
  int32_t line = 0;
  std::vector<std::string> fields;
};

// Takes a table apart, row by row.
class CsvScanner {
 public:
  CsvScanner(absl::string_view text, absl::string_view file) : text_(text), file_(file) {}

  bool AtEnd() const { return at_ == text_.size(); }

  absl::StatusOr<CsvRow> Next() {
    CsvRow row = {.line = line_, .fields = {}};
    for (bool is_last = false; !is_last;) {
      std::string field;
      ASSIGN_OR_RETURN(field, Field());
      row.fields.push_back(std::move(field));
      is_last = AtEnd() || text_[at_] != ',';
      if (!is_last) ++at_;
    }
    if (!AtEnd() && text_[at_] == '\r') ++at_;
    if (AtEnd()) return row;
    if (text_[at_] != '\n') return Error("expected a comma or the end of the line behind a quote");
    ++at_;
    ++line_;
    return row;
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ":", line_, ": ", what));
  }

  absl::StatusOr<std::string> Field() {
    if (!AtEnd() && text_[at_] == '"') return Quoted();
    const size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    const absl::string_view field = text_.substr(at_, end - at_);
    at_ = end;
    return std::string(absl::StripAsciiWhitespace(field));
  }

  absl::StatusOr<std::string> Quoted() {
    std::string field;
    for (++at_; !AtEnd(); ++at_) {
      if (text_[at_] == '"') {
        // Two quotes stand for one.
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') {
          ++at_;
          return field;
        }
        ++at_;
      }
      if (text_[at_] == '\n') ++line_;
      field += text_[at_];
    }
    return Error("expected a quote at the end of the field, got the end of the file");
  }

  const absl::string_view text_;
  const absl::string_view file_;
  size_t at_ = 0;
  int32_t line_ = 1;
};

// A span, or a number of seconds.
absl::StatusOr<absl::Duration> ParseTime(const std::string& text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  return ParseSpan(is_number ? absl::StrCat(text, "s") : text);
}

absl::StatusOr<RecordedArrivals::Row> ReadRow(const CsvRow& row, const std::vector<std::string>& columns,
                                              absl::string_view file) {
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(file, ":", row.line, ": ", what));
  };
  if (row.fields.size() != columns.size()) {
    return error(
        absl::StrCat("expected ", columns.size(), " fields, as the first line has, got ", row.fields.size()));
  }
  RecordedArrivals::Row read;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool is_time = columns[i] == "at" || columns[i] == "lifetime";
    if (!is_time) {
      read.fields.emplace_back(columns[i], GoValue(row.fields[i]));
      continue;
    }
    // A pod may stay for ever.
    if (columns[i] == "lifetime" && row.fields[i].empty()) continue;
    const absl::StatusOr<absl::Duration> time = ParseTime(row.fields[i]);
    if (!time.ok()) return error(absl::StrCat(columns[i], ": ", time.status().message()));
    if (columns[i] == "at") {
      read.at = *time;
    } else {
      read.lifetime = *time;
    }
  }
  return read;
}

}  // namespace

absl::StatusOr<RecordedArrivals> ReadArrivalsText(absl::string_view text, absl::string_view file) {
  absl::ConsumePrefix(&text, codec::kByteOrderMark);
  CsvScanner scanner(text, file);
  CsvRow header;
  ASSIGN_OR_RETURN(header, scanner.Next());
  const std::vector<std::string>& columns = header.fields;
  for (const std::string& column : columns) {
    if (std::count(columns.begin(), columns.end(), column) == 1) continue;
    return absl::InvalidArgumentError(absl::StrCat(file, ":1: expected names of columns that differ, got ",
                                                   api::GoQuote(column), " twice"));
  }
  if (std::count(columns.begin(), columns.end(), "at") == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":1: expected the names of columns, one of them at, got none of that name"));
  }
  RecordedArrivals arrivals;
  while (!scanner.AtEnd()) {
    CsvRow row;
    ASSIGN_OR_RETURN(row, scanner.Next());
    const bool is_blank = row.fields.size() == 1 && row.fields[0].empty();
    if (is_blank) continue;
    RecordedArrivals::Row read;
    ASSIGN_OR_RETURN(read, ReadRow(row, columns, file));
    arrivals.rows.push_back(std::move(read));
  }
  std::stable_sort(arrivals.rows.begin(), arrivals.rows.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return arrivals;
}

}  // namespace schedsim::sim
