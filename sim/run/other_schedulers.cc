#include "sim/run/other_schedulers.h"

#include <map>

#include "absl/strings/str_cat.h"

namespace schedsim::sim {

absl::Status CheckSchedulerNames(absl::string_view first_file, const codec::LoadedSchedulerConfig& first,
                                 const std::vector<OtherScheduler>& others) {
  std::map<std::string, std::string> files;  // By schedulerName.
  for (const api::EffectiveProfile& profile : first.profiles)
    files[profile.scheduler_name] = first_file.empty() ? "the first scheduler" : std::string(first_file);
  for (const OtherScheduler& other : others) {
    // Names within one configuration are compared when it is read.
    for (const api::EffectiveProfile& profile : other.config.profiles) {
      const auto [known, is_new] = files.try_emplace(profile.scheduler_name, other.file);
      if (is_new) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          other.place, ": ", other.file, ": schedulerName ", profile.scheduler_name, " is also that of ",
          known->second, ", expected another one: two schedulers for the same pods are not simulated"));
    }
  }
  return absl::OkStatus();
}

}  // namespace schedsim::sim
