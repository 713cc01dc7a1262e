// The calls of extenders in a recorded run, which answer those of our own.
#ifndef SCHEDSIM_SIM_CONFORMANCE_RECORDED_EXTENDERS_H_
#define SCHEDSIM_SIM_CONFORMANCE_RECORDED_EXTENDERS_H_

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "sim/extenders/extender_transport.h"

namespace schedsim::sim {

// An extender's server in a case.
struct CaseExtender {
  std::string name;
  std::string url;
  // By rule of the verb bind: whether it binds the pod, when it is called or when it answers.
  enum class Binds : uint8_t { kNever, kAtOnce, kLate };
  std::vector<Binds> bind_rules;
};

// The calls of a trace.
class RecordedExtenders {
 public:
  // InvalidArgument, `place: what`, where a record is none of an extender's call.
  static absl::StatusOr<RecordedExtenders> Read(absl::Span<const std::string> records,
                                                absl::string_view place);

  // A call as it was.
  struct Call {
    // From the call to the answer, or to the end of the client's patience.
    absl::Duration took;
    // Set: no answer came, with this text.
    std::string error;
    int status = 0;
    // The answer; with is_raw it is the very text, else the recorder's form of it: JSON, where a node that
    // came back as it was sent is its name.
    std::string body;
    bool is_raw = false;
    // The rule of the server's that answered; -1: none did.
    int rule = -1;
    // How long the server took.
    absl::Duration delay;
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // Extender, verb and pod.

  // In their order; nullptr: there are none.
  const std::vector<Call>* Find(const Key& key) const;

 private:
  std::map<Key, std::vector<Call>> calls_;
};

// A transport that answers as the record says: each extender, verb and pod in the order of its calls. What is
// not on record is never answered. `extenders`: one for each of the configuration's, in its order. Both must
// outlive the transport.
std::unique_ptr<ExtenderTransport> NewRecordedTransport(const RecordedExtenders& recorded,
                                                        const std::vector<CaseExtender>& extenders,
                                                        const ExtenderWorld& world);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONFORMANCE_RECORDED_EXTENDERS_H_
