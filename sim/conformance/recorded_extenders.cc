#include "sim/conformance/recorded_extenders.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/json_reader.h"
#include "core/codec/text/value.h"
#include "sim/cluster/api_server.h"
#include "sim/extenders/go_form.h"
#include "sim/kernel/event_loop.h"
#include "sim/record/records.h"
#include "sim/record/trace.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// Errors of Go's HTTP client begin so; others come from the answer.
constexpr absl::string_view kClientError = "Post \"";

absl::Status WithJson(std::string text, absl::FunctionRef<absl::Status(const Value& root)> visit) {
  return codec::ReadJsonText(std::move(text), "record", {},
                             [visit](const codec::Document& document) { return visit(document.root); });
}

std::string TextAt(const Value& map, absl::string_view key) {
  const Value* const value = map.Find(key);
  return value == nullptr ? std::string() : std::string(value->text);
}

// A number of seconds; `otherwise` where it is absent.
absl::Duration SecondsAt(const Value& map, absl::string_view key, absl::Duration otherwise) {
  double seconds = 0;
  if (!absl::SimpleAtod(TextAt(map, key), &seconds)) return otherwise;
  // Recorded times are multiples of a microsecond.
  return absl::Microseconds(static_cast<int64_t>(seconds * 1e6 + 0.5));
}

int NumberAt(const Value& map, absl::string_view key, int otherwise) {
  int number = otherwise;
  return absl::SimpleAtoi(TextAt(map, key), &number) ? number : otherwise;
}

RecordedExtenders::Call CallOf(const Value& record) {
  RecordedExtenders::Call call;
  const absl::Duration end = SecondsAt(record, "t", absl::ZeroDuration());
  call.took = end - SecondsAt(record, "from", end);
  const std::string error = TextAt(record, "error");
  if (absl::StartsWith(error, kClientError)) call.error = error;
  call.status = NumberAt(record, "status", 0);
  const Value* const body = record.Find("body");
  const Value* const response = record.Find("response");
  call.is_raw = body != nullptr;
  if (body != nullptr) {
    call.body = std::string(body->text);
  } else if (response != nullptr) {
    call.body = GoJson(*response, /*escapes_html=*/true);
  }
  call.rule = NumberAt(record, "rule", -1);
  call.delay = SecondsAt(record, "delay", absl::ZeroDuration());
  return call;
}

class RecordedTransport : public ExtenderTransport {
 public:
  RecordedTransport(const RecordedExtenders& recorded, const std::vector<CaseExtender>& extenders,
                    const ExtenderWorld& world)
      : recorded_(recorded), extenders_(extenders), world_(world) {}

  void Send(ExtenderCall call, Done done) override {
    const CaseExtender& extender = extenders_[call.extender];
    const RecordedExtenders::Key key(extender.name, std::string(NameOf(call.verb)), call.pod);
    const std::vector<RecordedExtenders::Call>* const known = recorded_.Find(key);
    const size_t index = next_[key]++;
    if (known == nullptr || index >= known->size()) return;
    const RecordedExtenders::Call& was = (*known)[index];
    ExtenderAnswer answer = {.error = was.error, .status = was.status, .body = was.body};
    if (!was.is_raw && call.verb == ExtenderVerb::kFilter) answer.body = WithNodes(was.body, call.nodes);
    // Whoever refused the connection did nothing.
    if (call.verb == ExtenderVerb::kBind && (was.status != 0 || was.rule >= 0)) BindAs(extender, was, call);
    const bool is_lost = call.verb == ExtenderVerb::kBind && !was.error.empty() && was.rule >= 0;
    if (was.took == absl::ZeroDuration() && is_lost) {
      // The informers hear of the binding before the client finds that there is no answer.
      world_.loop.At(world_.loop.Now(), EventLoop::Phase::kDelivery,
                     [done = std::move(done), answer = std::move(answer)] { done(answer); });
      return;
    }
    if (was.took == absl::ZeroDuration()) {
      done(std::move(answer));
      return;
    }
    world_.loop.At(world_.loop.Now() + was.took, EventLoop::Phase::kWork,
                   [done = std::move(done), answer = std::move(answer)] { done(answer); });
  }

 private:
  void BindAs(const CaseExtender& extender, const RecordedExtenders::Call& was, const ExtenderCall& call) {
    const size_t rule = static_cast<size_t>(was.rule);
    const CaseExtender::Binds binds = was.rule >= 0 && rule < extender.bind_rules.size()
                                          ? extender.bind_rules[rule]
                                          : CaseExtender::Binds::kAtOnce;
    if (binds == CaseExtender::Binds::kNever) return;
    auto bind = [this, pod = call.pod, node = call.node] {
      const api::ObjectPtr object = world_.server.FindByKey(api::Kind::kPod, "Pod", pod);
      if (object == nullptr) return;
      const auto& stored = static_cast<const api::Pod&>(*object);
      if (world_.server.Bind(stored, node).ok()) world_.trace.Bind(stored, node);
    };
    if (binds == CaseExtender::Binds::kAtOnce || was.delay == absl::ZeroDuration()) {
      bind();
    } else {
      world_.loop.At(world_.loop.Now() + was.delay, EventLoop::Phase::kWork, std::move(bind));
    }
  }

  // The answer with objects for the names of nodes that came back as they were sent.
  static std::string WithNodes(const std::string& body, const std::vector<api::NodePtr>& sent) {
    std::string out;
    const absl::Status status = WithJson(body, [&](const Value& root) {
      std::vector<std::string> parts;
      for (const codec::Member& member : root.members) {
        std::string text = GoJson(member.value, /*escapes_html=*/true);
        if (member.key == "Nodes" && member.value.is_array()) text = NodeListOf(member.value, sent);
        parts.push_back(absl::StrCat("\"", member.key, "\":", text));
      }
      out = absl::StrCat("{", absl::StrJoin(parts, ","), "}");
      return absl::OkStatus();
    });
    return status.ok() ? out : body;
  }

  static std::string NodeListOf(const Value& list, const std::vector<api::NodePtr>& sent) {
    std::vector<std::string> items;
    for (const Value& item : list.items) {
      const auto node = std::find_if(sent.begin(), sent.end(), [&item](const api::NodePtr& candidate) {
        return item.is_string() && candidate->metadata.name == item.text;
      });
      items.push_back(node == sent.end() ? GoJson(item, /*escapes_html=*/true) : codec::ObjectJson(**node));
    }
    return absl::StrCat("{\"items\":[", absl::StrJoin(items, ","), "]}");
  }

  const RecordedExtenders& recorded_;
  const std::vector<CaseExtender>& extenders_;
  const ExtenderWorld world_;
  std::map<RecordedExtenders::Key, size_t> next_;
};

}  // namespace

absl::StatusOr<RecordedExtenders> RecordedExtenders::Read(absl::Span<const std::string> records,
                                                          absl::string_view place) {
  RecordedExtenders recorded;
  for (size_t i = 0; i < records.size(); ++i) {
    // Most records are of other kinds.
    if (!absl::StrContains(records[i], record::ExtenderCall::kKind)) continue;
    const absl::Status status = WithJson(records[i], [&](const Value& root) {
      if (TextAt(root, "ev") != record::ExtenderCall::kKind) return absl::OkStatus();
      const Key key(TextAt(root, "extender"), TextAt(root, "verb"), TextAt(root, "pod"));
      recorded.calls_[key].push_back(CallOf(root));
      return absl::OkStatus();
    });
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(place, ": record ", i + 1, ": ", status.message()));
    }
  }
  return recorded;
}

const std::vector<RecordedExtenders::Call>* RecordedExtenders::Find(const Key& key) const {
  const auto found = calls_.find(key);
  return found == calls_.end() ? nullptr : &found->second;
}

std::unique_ptr<ExtenderTransport> NewRecordedTransport(const RecordedExtenders& recorded,
                                                        const std::vector<CaseExtender>& extenders,
                                                        const ExtenderWorld& world) {
  return std::make_unique<RecordedTransport>(recorded, extenders, world);
}

}  // namespace schedsim::sim
