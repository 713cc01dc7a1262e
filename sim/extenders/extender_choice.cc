#include "sim/extenders/extender_choice.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/extenders/call_file.h"
#include "sim/extenders/live_transport.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {
namespace {

// What the transports share where a command makes a run several times, to look at it again.
struct Source {
  std::unique_ptr<ExtenderServers> servers;  // nullptr: `reader` answers.
  std::shared_ptr<std::string> calls;        // nullptr: nobody wants them. The first run takes it.
  std::unique_ptr<CallFileReader> reader;
};

// Answers at once: calls take no virtual time.
class ImmediateTransport : public ExtenderTransport {
 public:
  ImmediateTransport(std::shared_ptr<Source> source, const ExtenderWorld& world)
      : source_(std::move(source)), calls_(std::move(source_->calls)), world_(world) {}

  void Send(ExtenderCall call, Done done) override {
    if (!failure_.ok()) return;
    absl::StatusOr<ExtenderAnswer> answer = Call(call);
    if (answer.ok()) {
      done(*std::move(answer));
      return;
    }
    failure_ = answer.status();
    world_.loop.Stop();
  }

  absl::Status failure() const override { return failure_; }

  std::string Warning() const override {
    if (source_->reader == nullptr || count_ >= source_->reader->call_count()) return "";
    return absl::StrCat(source_->reader->path(), ": the run made ", count_, " of the ",
                        source_->reader->call_count(), " recorded calls");
  }

 private:
  absl::StatusOr<ExtenderAnswer> Call(const ExtenderCall& call) {
    if (source_->servers == nullptr) return source_->reader->Answer(count_++, call);
    absl::StatusOr<ExtenderAnswer> answer = source_->servers->Call(call);
    if (answer.ok() && calls_ != nullptr) AppendCall(call, *answer, *calls_);
    return answer;
  }

  const std::shared_ptr<Source> source_;
  const std::shared_ptr<std::string> calls_;
  const ExtenderWorld world_;
  size_t count_ = 0;  // Of calls.
  absl::Status failure_;
};

}  // namespace

absl::Status ChooseExtenders(absl::string_view place, const ExtenderChoice& choice,
                             const api::KubeSchedulerConfiguration& config, ExtenderOptions& options) {
  if (config.extenders.empty()) {
    if (!choice.any()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(place, "extenders: expected some with ",
                                                   choice.live ? "--extender-live" : "--extender-replay",
                                                   ", there are none in the configuration"));
  }
  if (!choice.any()) {
    return absl::InvalidArgumentError(absl::StrCat(
        place, "extenders: expected none, or --extender-live, or --extender-replay FILE; the first is ",
        config.extenders[0].url_prefix));
  }
  auto source = std::make_shared<Source>();
  if (choice.live) {
    absl::StatusOr<std::unique_ptr<ExtenderServers>> servers = MakeExtenderServers(config);
    if (!servers.ok()) return absl::InvalidArgumentError(absl::StrCat(place, servers.status().message()));
    source->servers = *std::move(servers);
    source->calls = choice.calls;
  } else {
    ASSIGN_OR_RETURN(source->reader, CallFileReader::Read(choice.replay));
  }
  options.make_transport = [source](const ExtenderWorld& world) {
    return std::make_unique<ImmediateTransport>(source, world);
  };
  return absl::OkStatus();
}

}  // namespace schedsim::sim
