#include "sim/cluster/admission/node_validation.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/label_name.h"
#include "core/codec/text/json_writer.h"

namespace schedsim::sim {
namespace {

// A taint as the API server prints it: by the names of its Go struct.
std::string TaintJson(const api::Taint& taint) {
  codec::JsonWriter json;
  json.BeginObject().Field("Key", taint.key).Field("Value", taint.value).Field("Effect", taint.effect);
  json.Key("TimeAdded").Null().EndObject();
  return json.text();
}

}  // namespace

void CheckTaints(const std::vector<api::Taint>& taints, ValidationErrors& errors) {
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t i = 0; i < taints.size(); ++i) {
    const api::Taint& taint = taints[i];
    // The real one has the taints below the metadata.
    const std::string path = api::Index("metadata.taints", i);
    errors.LabelName(path + ".key", taint.key);
    const std::vector<std::string> faults = api::LabelValueErrors(taint.value, errors.line());
    if (!faults.empty()) errors.Invalid(path + ".value", taint.value, absl::StrJoin(faults, ";"));
    if (taint.effect.empty()) errors.Required(path + ".effect", "");
    if (seen.insert({taint.effect, taint.key}).second) continue;
    errors.Add(path, absl::StrCat("Duplicate value: ", TaintJson(taint),
                                  ": taints must be unique by key and effect pair"));
  }
}

}  // namespace schedsim::sim
