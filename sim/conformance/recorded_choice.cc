#include "sim/conformance/recorded_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"

namespace schedsim::sim {

RecordedChoice::RecordedChoice(const RecordedTrace& trace) {
  for (const std::string& record : trace.records) {
    if (!absl::StrContains(record, "\"attempt\"")) continue;
    const nlohmann::json json = nlohmann::json::parse(record, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || json.value("ev", "") != "attempt") continue;
    Attempt attempt = {.host = json.value("host", ""), .nominated = ""};
    if (json.contains("postFilter") && json["postFilter"].is_object()) {
      attempt.nominated = json["postFilter"].value("nominate", "");
    }
    attempts_[{json.value("pod", ""), json.value("attempts", int64_t{0})}].push_back(std::move(attempt));
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

}  // namespace schedsim::sim
