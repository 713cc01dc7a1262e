#include "sim/conformance/recorded_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"

namespace schedsim::sim {
namespace {

using Json = nlohmann::json;

// A text of a record; "" where it has none. Whether records are well formed is for the comparison to say.
std::string TextOf(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

RecordedChoice::RecordedChoice(const RecordedTrace& trace) {
  for (const std::string& record : trace.records) {
    const bool wanted = absl::StrContains(record, "\"attempt\"") || absl::StrContains(record, "\"gone\"") ||
                        absl::StrContains(record, "\"persistentvolumes\"");
    if (!wanted) continue;
    const Json json = Json::parse(record, nullptr, /*allow_exceptions=*/false);
    const std::string kind = TextOf(json, "ev");
    if (kind == "gone") endings_.push_back(TextOf(json, "pod"));
    if (kind == "update") bindings_.emplace(TextOf(json, "claim"), TextOf(json, "name"));
    if (kind != "attempt") continue;
    const auto number = json.find("attempts");
    if (number == json.end() || !number->is_number_integer()) continue;
    const auto post_filter = json.find("postFilter");
    attempts_[{TextOf(json, "pod"), number->get<int64_t>()}].push_back(
        {.host = TextOf(json, "host"),
         .nominated = post_filter == json.end() ? "" : TextOf(*post_filter, "nominate")});
  }
}

std::optional<size_t> RecordedChoice::Choose(Kind kind, const framework::PodInfo& pod, int32_t attempts,
                                             absl::Span<const absl::string_view> nodes) {
  auto found = attempts_.find({pod.pod->Key(), attempts});
  if (found == attempts_.end()) return std::nullopt;
  for (const Attempt& attempt : found->second) {
    const std::string& wanted = kind == Kind::kHost ? attempt.host : attempt.nominated;
    auto node = std::find(nodes.begin(), nodes.end(), wanted);
    if (node != nodes.end()) return static_cast<size_t>(node - nodes.begin());
  }
  return std::nullopt;
}

bool RecordedChoice::Binds(absl::string_view claim, absl::string_view volume) const {
  return bindings_.find({std::string(claim), std::string(volume)}) != bindings_.end();
}

int RecordedChoice::ChooseWake(absl::Time now) {
  const size_t index = wakes_.size();
  wakes_.push_back(now);
  return index < waits_.size() ? waits_[index] : -1;
}

bool RecordedChoice::ChooseLate(absl::Time now, bool woken) {
  cycles_.insert(now);
  return woken != IsUnusual(now, Unusual::kOtherLateness);
}

bool RecordedChoice::IsUnusual(absl::Time now, Unusual how) const {
  const auto found = unusual_.find(now);
  return found != unusual_.end() && found->second == how;
}

size_t RecordedChoice::ChooseEnding(absl::Span<const api::PodPtr> pods) {
  for (std::string& ending : endings_) {
    auto pod = std::find_if(pods.begin(), pods.end(),
                            [&ending](const api::PodPtr& other) { return other->Key() == ending; });
    if (pod == pods.end()) continue;
    ending.clear();
    return static_cast<size_t>(pod - pods.begin());
  }
  return 0;
}

}  // namespace schedsim::sim
