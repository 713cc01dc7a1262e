// Tables for programs: CSV, or the same as JSON.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_TABLE_H_
#define SCHEDSIM_CORE_CODEC_TEXT_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::codec {

// A field of a CSV line, quoted where RFC 4180 asks for it. What a terminal would act on is escaped, line
// feeds as well.
std::string CsvField(absl::string_view text);

// Rows below names of columns.
class Table {
 public:
  // Nothing is there, null in JSON; a text; a whole number; a truth.
  using Cell = std::variant<std::monostate, std::string, int64_t, bool>;

  // `kind` is for JSON. Columns have names in snake case.
  Table(std::string kind, std::vector<std::string> columns)
      : kind_(std::move(kind)), columns_(std::move(columns)) {}

  // One cell a column.
  void Add(std::vector<Cell> row);

  // A line of names, then a line a row.
  std::string Csv() const;
  // `{"apiVersion": "schedsim/v1", "kind": KIND, "rows": [{COLUMN: CELL, ...}, ...]}`, a line a row.
  std::string Json() const;

 private:
  const std::string kind_;
  const std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Nothing where there is no number.
inline Table::Cell CellOf(std::optional<int64_t> number) {
  return number.has_value() ? Table::Cell(*number) : Table::Cell();
}

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_TABLE_H_
