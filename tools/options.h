// Options of the command line, each checked where it is read. What is wrong is said as
// `--name: "VALUE" is not ..., expected ...`.
#ifndef SCHEDSIM_TOOLS_OPTIONS_H_
#define SCHEDSIM_TOOLS_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/hosting/wasm/wasm_guests.h"
#include "sim/scenario/scheduler_choice.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace schedsim::tools {

// Values as options have them. InvalidArgument, without the option's name, for anything else.
absl::StatusOr<std::string> ParseText(absl::string_view text);  // Anything but "".
absl::StatusOr<std::string> ParsePath(absl::string_view text);  // Nor what looks like an option.
absl::StatusOr<uint64_t> ParseSeed(absl::string_view text);
absl::StatusOr<int64_t> ParseCount(absl::string_view text);           // From 0 on.
absl::StatusOr<int64_t> ParseCountAboveZero(absl::string_view text);  // From 1 on.
// Takes numbers from 1 to `max`.
std::function<absl::StatusOr<int64_t>(absl::string_view text)> ParseCountUpTo(int64_t max);
absl::StatusOr<int64_t> ParseJobs(absl::string_view text);  // How many processes at once.

// The seeds from `first` to `last`, both included.
struct SeedRange {
  uint64_t first = 0;
  uint64_t last = 0;
};
absl::StatusOr<SeedRange> ParseSeedRange(absl::string_view text);  // "7" or "1..200".
// As many as there are processors.
int64_t DefaultJobs();
absl::StatusOr<absl::Duration> ParseInterval(absl::string_view text);  // As Go writes it, above zero.

// Adds an option, or a positional argument, that takes one value and is given once at most. `take` keeps the
// value, or returns InvalidArgument with what is wrong with it.
CLI::Option* AddChecked(CLI::App& command, const std::string& names, const std::string& type,
                        const std::string& description,
                        std::function<absl::Status(absl::string_view text)> take);

// The same where `parse` turns the text into what goes to `target`, a T or std::optional<T>, which must
// outlive the command.
template <typename Parse, typename Target>
CLI::Option* AddOption(CLI::App& command, const std::string& names, Target& target, const std::string& type,
                       const std::string& description, Parse parse) {
  return AddChecked(command, names, type, description,
                    [&target, parse](absl::string_view text) -> absl::Status {
                      auto value = parse(text);
                      if (!value.ok()) return value.status();
                      target = *std::move(value);
                      return absl::OkStatus();
                    });
}

// An option that may be given again, or positional arguments, of which there may be several: each value is
// added to `target`, if `parse` takes it.
CLI::Option* AddTexts(CLI::App& command, const std::string& names, std::vector<std::string>& target,
                      const std::string& type, const std::string& description,
                      absl::StatusOr<std::string> (*parse)(absl::string_view));

// An option with one of a few values; the first one is the default.
CLI::Option* AddChoice(CLI::App& command, const std::string& names, std::string& target,
                       std::vector<std::string> values, const std::string& description);

// Adds --quiet, which is for commands that say more than errors on standard error.
void AddQuiet(CLI::App& command);

// Adds --namespace, in which a pod is looked for that is named without one.
CLI::Option* AddNamespace(CLI::App& command, std::string& name_space);
// "namespace/name" of both; the name alone where there is no namespace. InvalidArgument where the name has
// another one.
absl::StatusOr<std::string> PodIn(const std::string& name_space, const std::string& pod);

// The same error with what helps, where `pod`, which was not found, is written as kubectl's TYPE/NAME.
absl::Status WithPodForm(const absl::Status& error, absl::string_view pod);

// Adds --plugin, the files of plugins, with --isolate and --plugin-timeout.
void AddPluginFiles(CLI::App& command, std::vector<std::string>& paths, hosting::ProcessOptions& processes);

// Adds --recorder, or that of one side under another name.
void AddRecorder(CLI::App& command, const std::string& name, std::string& path);

// Adds --extender-live and --extender-replay.
void AddExtenderOptions(CLI::App& command, sim::ExtenderChoice& choice);

// Adds --wasm-engine and --guest-log.
void AddGuestOptions(CLI::App& command, hosting::GuestOptions& guests);

// Adds --config, --feature-gates, --kubernetes-version and --plugin, and those of guests.
void AddSchedulerOptions(CLI::App& command, sim::SchedulerChoice& choice);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_OPTIONS_H_
