#include "sim/scenario/taint_reader.h"

#include "absl/strings/str_cat.h"
#include "core/api/label_name.h"

namespace schedsim::sim {
namespace {

void Add(const codec::Value& value, const std::string& path, absl::string_view what,
         codec::ErrorList& errors) {
  errors.Add(value.position, absl::StrCat(path, ": ", what));
}

}  // namespace

api::Taint ReadTaint(const codec::Value& item, const std::string& path, TaintForm form,
                     codec::ErrorList& errors) {
  api::Taint taint;
  codec::StrictReader reader(item, path, errors);
  if (!item.is_object()) return taint;
  reader.Read("key", taint.key);
  reader.Read("value", taint.value);
  reader.Read("effect", taint.effect);
  reader.Finish();
  if (taint.key.empty()) {
    Add(item, path, "expected a taint with a key", errors);
  } else {
    for (const std::string& what : api::LabelKeyErrors(taint.key)) {
      Add(*item.Find("key"), absl::StrCat(path, ".key"), what, errors);
    }
  }
  for (const std::string& what : api::LabelValueErrors(taint.value)) {
    Add(*item.Find("value"), absl::StrCat(path, ".value"), what, errors);
  }
  const bool is_known = taint.effect == "NoSchedule" || taint.effect == "PreferNoSchedule" ||
                        taint.effect == "NoExecute" ||
                        (form == TaintForm::kToBeRemoved && taint.effect.empty());
  if (!is_known) Add(item, path, "expected the effect NoSchedule, PreferNoSchedule or NoExecute", errors);
  return taint;
}

void CheckLabel(absl::string_view key, absl::string_view value, const codec::Value& member,
                const std::string& path, codec::ErrorList& errors) {
  for (const std::string& what : api::LabelKeyErrors(key)) Add(member, path, what, errors);
  for (const std::string& what : api::LabelValueErrors(value)) Add(member, path, what, errors);
}

}  // namespace schedsim::sim
