#include "core/codec/text/table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"
#include "core/base/printable.h"
#include "core/codec/text/json_writer.h"

namespace schedsim::codec {
namespace {

std::string CsvCell(const Table::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return CsvField(*text);
  if (const auto* number = std::get_if<int64_t>(&cell)) return absl::StrCat(*number);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "true" : "false";
  return "";
}

void WriteCell(const Table::Cell& cell, JsonWriter& json) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    json.String(*text);
  } else if (const auto* number = std::get_if<int64_t>(&cell)) {
    json.Int(*number);
  } else if (const auto* truth = std::get_if<bool>(&cell)) {
    json.Bool(*truth);
  } else {
    json.Null();
  }
}

}  // namespace

std::string CsvField(absl::string_view text) {
  std::string field = Printable(text);
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string quoted = "\"";
  for (char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

void Table::Add(std::vector<Cell> row) {
  CHECK(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::Csv() const {
  const auto name = [](std::string* out, const std::string& column) { out->append(CsvField(column)); };
  const auto cell = [](std::string* out, const Cell& each) { out->append(CsvCell(each)); };
  std::string text = absl::StrJoin(columns_, ",", name);
  text += '\n';
  for (const std::vector<Cell>& row : rows_) absl::StrAppend(&text, absl::StrJoin(row, ",", cell), "\n");
  return text;
}

std::string Table::Json() const {
  std::string text = absl::StrCat("{\"apiVersion\":\"schedsim/v1\",\"kind\":\"", kind_, "\",\"rows\":[");
  JsonWriter json;
  for (size_t i = 0; i < rows_.size(); ++i) {
    json.Clear();
    json.BeginObject();
    for (size_t j = 0; j < columns_.size(); ++j) WriteCell(rows_[i][j], json.Key(columns_[j]));
    json.EndObject();
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", json.text());
  }
  return text + "\n]}\n";
}

}  // namespace schedsim::codec
