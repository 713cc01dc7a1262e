// The cases that the real scheduler's traces were recorded for.
#ifndef SCHEDSIM_SIM_CONFORMANCE_CASE_H_
#define SCHEDSIM_SIM_CONFORMANCE_CASE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/kubernetes_line.h"
#include "core/api/object.h"
#include "core/codec/config/scheduler_config.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"
#include "core/framework/framework.h"
#include "core/hosting/library/plugin_libraries.h"
#include "sim/conformance/recorded_choice.h"
#include "sim/conformance/recorded_extenders.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// One scenario: objects, then steps, up to an end. docs/conformance.md has the format.
struct Case {
  std::string name;
  // For messages: `file:line`.
  std::string place;
  api::LineBehavior line;
  codec::LoadedSchedulerConfig config;
  // Plugins beside the built-in ones.
  std::vector<framework::RegisteredPlugin> more_plugins;
  // Not empty: the configuration is refused, with this message.
  std::string config_error;
  // nullptr: the line has no such object, which takes its time to create all the same.
  std::vector<api::ObjectPtr> objects;
  std::vector<Step> steps;
  // When the first object is created; absent: when the year 2000 begins.
  std::optional<absl::Time> start;
  absl::Duration end;
  // The case ends sooner, when nothing but flushes of the queue is left.
  bool ends_at_rest = false;
  absl::Duration pod_termination;
  // A stand-in for the volume controller takes part.
  bool provision = false;
  // A stand-in for the controller of claims of devices takes part, and one for their drivers.
  std::optional<ResourceClaimOptions> claims;
  // Whether the case is for the line.
  bool is_for_line = true;
  // Whether it names lines.
  bool names_lines = false;
  TraceLevel trace_level = TraceLevel::kFull;
  // The servers of the configuration's extenders, one for each, in its order.
  std::vector<CaseExtender> extenders;
  // How many pods may be popped; then the case ends when all of the instant is done. Absent: any number.
  std::optional<int64_t> pops_max;
};

// Reads the cases of one file, document by document. The objects of a case come one by one before it, so that
// a large case is never in memory as a whole.
class CaseFileReader {
 public:
  // `file` is named in messages. `plugins` are those that the cases' configurations may name beside the
  // built-in ones.
  CaseFileReader(absl::string_view file, api::KubernetesLine line, hosting::LoadedPlugins plugins = {});
  CaseFileReader(const CaseFileReader&) = delete;
  CaseFileReader& operator=(const CaseFileReader&) = delete;
  ~CaseFileReader();

  // How the file is to be read.
  static codec::ReadOptions Options();

  // The next case; absent: the document is an object of the case that is to come. InvalidArgument,
  // `file:line:column: path: what`, for anything that is no case.
  absl::StatusOr<std::optional<Case>> Read(const codec::Document& document);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Hands on the cases of a file, .jsonl or .jsonl.gz, one after the other. An error of `sink` ends the
// reading. InvalidArgument, `file:line:column: path: what`, for anything that is no case.
absl::Status ReadCases(absl::string_view path, api::KubernetesLine line,
                       const std::function<absl::Status(Case)>& sink, hosting::LoadedPlugins plugins = {});

// How a case is run: as the real scheduler's recorder does. Its clock starts in the year 2000 and objects are
// created 1 ms apart. Sink and free choice are for the caller to set.
SimulationOptions OptionsOf(const Case& test_case, bool reference);

struct CaseRun {
  // Shape: one record of the trace an entry.
  std::vector<std::string> records;
  std::string decision_digest;
  absl::Time zero;
};

// Runs a case. With `choice`, choices that the real scheduler leaves to chance are its. `extenders`: the
// calls that are answered; nullptr: none is.
absl::StatusOr<CaseRun> RunCase(const Case& test_case, bool reference, RecordedChoice* choice = nullptr,
                                const RecordedExtenders* extenders = nullptr);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONFORMANCE_CASE_H_
