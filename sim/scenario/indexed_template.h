// An object of a scenario that is made many times, with a number of its own each time.
#ifndef SCHEDSIM_SIM_SCENARIO_INDEXED_TEMPLATE_H_
#define SCHEDSIM_SIM_SCENARIO_INDEXED_TEMPLATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/value.h"
#include "sim/templates/go_template.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {

// A map as an object has it, in which strings may be templates of Go: `name: web-{{.Index}}`.
class IndexedTemplate {
 public:
  // Copies `value`, which stands in `file`. InvalidArgument, with its place, for a string that is no
  // template.
  static absl::StatusOr<IndexedTemplate> Make(const codec::Value& value, absl::string_view file);

  // Hands on the object with this number, {{.Index}}, and these other fields. InvalidArgument, with the place
  // in the file, where a template fails. Errors of `sink` are passed on.
  absl::Status Render(int64_t index, const GoValue::Map& fields,
                      const std::function<absl::Status(const codec::Value& object)>& sink) const;

  const std::string& file() const { return file_; }

 private:
  explicit IndexedTemplate(absl::string_view file) : file_(file) {}

  std::string file_;
  std::shared_ptr<const codec::Document> document_;
  std::map<std::string, GoTemplate, std::less<>> templates_;  // By their text.
};

// Whether an item of a list of objects is a template with a count, rather than an object.
bool IsTemplated(const codec::Value& item);

// Reads such an item, `{count: 3, template: {...}}`, and hands its objects on. Numbers begin with 0, and go
// on in each later `round`. What is wrong with the item goes to `errors`; errors of objects are returned.
absl::Status ReadTemplated(const codec::Value& item, const std::string& path, absl::string_view file,
                           int64_t round, codec::ObjectReader& objects, codec::ErrorList& errors,
                           codec::ObjectReader::Sink sink);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_INDEXED_TEMPLATE_H_
