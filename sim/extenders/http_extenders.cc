#include "sim/extenders/http_extenders.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "core/base/check.h"
#include "sim/cluster/api_server.h"
#include "sim/extenders/extender_messages.h"
#include "sim/kernel/event_loop.h"
#include "sim/record/records.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

using framework::ExtenderFilterResult;
using framework::ExtenderPreemptionResult;
using framework::ExtenderPriorities;
using framework::NodeInfo;
using framework::NodeInfos;
using framework::PodInfo;
using framework::VictimsByNode;

namespace {

constexpr absl::Duration kDefaultTimeout = absl::Seconds(5);

// The text of a request, and what the record has of it. The record borrows from `texts`.
struct Request {
  std::string body;
  record::ExtenderRequest record;
  std::vector<std::string> texts;
};

std::string JsonList(const std::vector<std::string>& items) {
  return absl::StrCat("[", absl::StrJoin(items, ","), "]");
}

std::string Quoted(absl::string_view text) { return api::GoJsonQuote(text); }

}  // namespace

absl::string_view NameOf(ExtenderVerb verb) {
  switch (verb) {
    case ExtenderVerb::kFilter:
      return "filter";
    case ExtenderVerb::kPrioritize:
      return "prioritize";
    case ExtenderVerb::kPreempt:
      return "preempt";
    case ExtenderVerb::kBind:
      return "bind";
  }
  return "";
}

class HttpExtenders::HttpExtender : public framework::Extender {
 public:
  HttpExtender(HttpExtenders& all, size_t place)
      : all_(all), place_(place), config_(all.world_.config.extenders[place]) {}

  absl::string_view Name() const override { return config_.url_prefix; }
  absl::string_view RecordName() const override {
    const std::vector<std::string>& names = all_.options_.names;
    return place_ < names.size() ? absl::string_view(names[place_]) : Name();
  }
  bool IsIgnorable() const override { return config_.ignorable; }
  bool IsFilter() const override { return !config_.filter_verb.empty(); }
  bool IsPrioritizer() const override { return !config_.prioritize_verb.empty(); }
  bool IsBinder() const override { return !config_.bind_verb.empty(); }
  bool SupportsPreemption() const override { return !config_.preempt_verb.empty(); }
  int64_t weight() const override { return config_.weight; }
  bool IsInterested(const PodInfo& pod) const override;

  ExtenderFilterResult Filter(const PodInfo& pod, NodeInfos nodes) override;
  void Prioritize(const PodInfo& pod, NodeInfos nodes, PrioritiesCallback done) override;
  ExtenderPreemptionResult ProcessPreemption(const PodInfo& pod, const VictimsByNode& victims,
                                             const framework::SnapshotLister& snapshot) override;
  void Bind(const PodInfo& pod, absl::string_view node_name, BindCallback done) override;

 private:
  // Takes an answer's text, and returns what the scheduler says of it; "": nothing is wrong.
  using Take = std::function<std::string(absl::string_view body)>;
  // Makes a call, and calls `done` with what is wrong, or "", when `take` has had the answer.
  void Call(ExtenderVerb verb, const PodInfo& pod, std::shared_ptr<Request> request, ExtenderCall call,
            Take take, std::function<void(std::string error)> done);
  // The same for a caller who waits.
  std::string CallAndWait(ExtenderVerb verb, const PodInfo& pod, std::shared_ptr<Request> request,
                          ExtenderCall call, const Take& take);
  const std::string& PathOf(ExtenderVerb verb) const;
  std::shared_ptr<Request> NodesRequest(const PodInfo& pod, NodeInfos nodes, ExtenderCall& call) const;
  std::shared_ptr<Request> VictimsRequest(const PodInfo& pod, const VictimsByNode& victims) const;
  std::string TakeFilterAnswer(FilterAnswer answer, NodeInfos nodes, ExtenderFilterResult& result) const;

  HttpExtenders& all_;
  const size_t place_;
  const api::Extender& config_;
};

// Keeps what records borrow.
static absl::string_view Keep(Request& request, std::string text) {
  // A small string lies within its object: so many are reserved that none moves.
  CHECK(request.texts.size() < request.texts.capacity());
  return request.texts.emplace_back(std::move(text));
}

HttpExtenders::HttpExtenders(Parts parts)
    : world_(parts.world),
      options_(parts.options),
      wait_(std::move(parts.wait)),
      transport_(parts.options.make_transport(world_)),
      scribe_(std::make_unique<ObjectScribe>(options_.sends_types, condition_times_)) {
  world_.server.Watch([this](const WatchEvent& event) {
    if (event.new_object == nullptr || event.new_object->kind != api::Kind::kPod) return;
    // A binding in the recorder's API server sets a condition without times.
    if (options_.sends_types && event.old_object != nullptr &&
        static_cast<const api::Pod&>(*event.old_object).node_name !=
            static_cast<const api::Pod&>(*event.new_object).node_name) {
      return;
    }
    condition_times_.OnPod(static_cast<const api::Pod*>(event.old_object.get()),
                           static_cast<const api::Pod&>(*event.new_object), world_.loop.Now());
  });
  const std::vector<api::Extender>& configs = world_.config.extenders;
  for (size_t place = 0; place < configs.size(); ++place) {
    extenders_.push_back(std::make_unique<HttpExtender>(*this, place));
  }
  for (const bool ignorable : {false, true}) {
    for (const auto& extender : extenders_) {
      if (extender->IsIgnorable() == ignorable) list_.push_back(extender.get());
    }
  }
}

HttpExtenders::~HttpExtenders() = default;

std::vector<std::string> HttpExtenders::Warnings() const {
  std::vector<std::string> warnings;
  for (const auto& [key, calls] : calls_) {
    if (calls.failed == 0) continue;
    const api::Extender& extender = world_.config.extenders[key.first];
    const bool is_ignored = extender.ignorable || key.second == ExtenderVerb::kPrioritize;
    warnings.push_back(absl::StrCat("extender ", extender.url_prefix, ": ", calls.failed, " of ", calls.count,
                                    " calls of ", NameOf(key.second), " failed",
                                    is_ignored ? ", which kube-scheduler ignores" : "", "; the first, for ",
                                    calls.first_error));
  }
  if (std::string warning = transport_->Warning(); !warning.empty()) warnings.push_back(std::move(warning));
  return warnings;
}

void HttpExtenders::WaitUntil(absl::FunctionRef<bool()> is_done) {
  if (!is_done()) wait_(is_done);
  is_over_ = is_over_ || !is_done();
}

// Ephemeral containers, overhead and what the pod as a whole asks for do not count.
bool HttpExtenders::HttpExtender::IsInterested(const PodInfo& pod) const {
  if (config_.managed_resources.empty()) return true;
  const auto is_managed = [this](const auto& resource) {
    return std::any_of(
        config_.managed_resources.begin(), config_.managed_resources.end(),
        [&resource](const api::ExtenderManagedResource& managed) { return managed.name == resource.first; });
  };
  const api::PodSpec& spec = *pod.pod->spec;
  for (const auto* containers : {&spec.containers, &spec.init_containers}) {
    for (const api::Container& container : *containers) {
      for (const api::ResourceList* list : {&container.resources.requests, &container.resources.limits}) {
        if (std::any_of(list->begin(), list->end(), is_managed)) return true;
      }
    }
  }
  return false;
}

const std::string& HttpExtenders::HttpExtender::PathOf(ExtenderVerb verb) const {
  switch (verb) {
    case ExtenderVerb::kFilter:
      return config_.filter_verb;
    case ExtenderVerb::kPrioritize:
      return config_.prioritize_verb;
    case ExtenderVerb::kPreempt:
      return config_.preempt_verb;
    case ExtenderVerb::kBind:
      break;
  }
  return config_.bind_verb;
}

void HttpExtenders::HttpExtender::Call(ExtenderVerb verb, const PodInfo& pod,
                                       std::shared_ptr<Request> request, ExtenderCall call, Take take,
                                       std::function<void(std::string error)> done) {
  std::string prefix = config_.url_prefix;
  while (!prefix.empty() && prefix.back() == '/') prefix.pop_back();
  const std::string& path = PathOf(verb);
  call.extender = place_;
  call.verb = verb;
  call.url = absl::StrCat(prefix, "/", path);
  call.timeout = config_.http_timeout == absl::ZeroDuration() ? kDefaultTimeout : config_.http_timeout;
  call.body = request->body;
  call.pod = pod.pod->Key();
  const absl::Time from = all_.world_.loop.Now();
  auto receive = [this, verb, from, path, url = call.url, pod_key = call.pod, request = std::move(request),
                  take = std::move(take), done = std::move(done)](ExtenderAnswer answer) {
    std::string error = answer.error;
    if (error.empty() && answer.status != 200) {
      error = absl::StrCat("failed ", path, " with extender at URL ", url, ", code ", answer.status);
    }
    if (error.empty()) error = take(answer.body);
    record::ExtenderCall record = {.extender = RecordName(), .verb = NameOf(verb), .pod = pod_key};
    if (from != all_.world_.loop.Now()) record.from = from - all_.world_.trace.zero();
    record.request = request->record;
    if (answer.error.empty()) {
      record.status = answer.status;
      record.body = answer.body;
    }
    record.error = error;
    all_.world_.trace.Extender(record);
    Calls& calls = all_.calls_[{place_, verb}];
    ++calls.count;
    if (!error.empty() && ++calls.failed == 1) calls.first_error = absl::StrCat(pod_key, ": ", error);
    done(std::move(error));
  };
  all_.transport_->Send(std::move(call), std::move(receive));
}

std::string HttpExtenders::HttpExtender::CallAndWait(ExtenderVerb verb, const PodInfo& pod,
                                                     std::shared_ptr<Request> request, ExtenderCall call,
                                                     const Take& take) {
  // An answer that the end of the run cuts off must not meet what is gone.
  const auto error = std::make_shared<std::optional<std::string>>();
  Call(verb, pod, std::move(request), std::move(call), take,
       [error](std::string text) { *error = std::move(text); });
  all_.WaitUntil([&error] { return error->has_value(); });
  return error->value_or("the run is over");
}

std::shared_ptr<Request> HttpExtenders::HttpExtender::NodesRequest(const PodInfo& pod, NodeInfos nodes,
                                                                   ExtenderCall& call) const {
  auto request = std::make_shared<Request>();
  request->texts.reserve(3 + 2 * nodes.size());
  const WrittenObject written_pod = all_.scribe_->Pod(*pod.pod);
  record::ExtenderRequest& record = request->record;
  record.pod = Keep(*request, pod.pod->Key());
  record.pod_digest = Keep(*request, written_pod.digest);
  record::Texts names;
  std::vector<std::string> items;
  for (const NodeInfo* node : nodes) {
    call.nodes.push_back(node->node);
    names.push_back(Keep(*request, node->node->metadata.name));
    if (config_.node_cache_capable) {
      items.push_back(Quoted(node->node->metadata.name));
    } else {
      const WrittenObject& written = all_.scribe_->Node(node->node, node->index < 0);
      items.push_back(written.json);
      record.node_digests.push_back(Keep(*request, written.digest));
    }
  }
  (config_.node_cache_capable ? record.node_names : record.nodes) = std::move(names);
  const std::string list = JsonList(items);
  absl::StrAppend(&request->body, "{\"Pod\":", written_pod.json);
  if (config_.node_cache_capable) {
    absl::StrAppend(&request->body, ",\"Nodes\":null,\"NodeNames\":", list, "}");
  } else {
    absl::StrAppend(&request->body, ",\"Nodes\":{\"metadata\":{},\"items\":", list, "},\"NodeNames\":null}");
  }
  return request;
}

std::shared_ptr<Request> HttpExtenders::HttpExtender::VictimsRequest(const PodInfo& pod,
                                                                     const VictimsByNode& victims) const {
  auto request = std::make_shared<Request>();
  size_t pod_count = 0;
  for (const auto& [node, on_node] : victims) pod_count += on_node.pods.size();
  request->texts.reserve(2 + victims.size() + 2 * pod_count);
  const WrittenObject written_pod = all_.scribe_->Pod(*pod.pod);
  record::ExtenderRequest& record = request->record;
  record.pod = Keep(*request, pod.pod->Key());
  record.pod_digest = Keep(*request, written_pod.digest);
  const bool by_uid = config_.node_cache_capable;
  if (by_uid) {
    record.meta_victims.emplace();
  } else {
    record.victims.emplace();
  }
  std::vector<std::string> entries;
  for (const auto& [node, on_node] : victims) {
    const absl::string_view name = Keep(*request, node);
    record::RequestVictims full = {.violations = on_node.violations};
    record::RequestMetaVictims meta = {.violations = on_node.violations};
    std::vector<std::string> items;
    for (const framework::PodInfoPtr& victim : on_node.pods) {
      if (by_uid) {
        items.push_back(absl::StrCat("{\"UID\":", Quoted(victim->pod->metadata.uid), "}"));
        meta.pods.push_back({.uid = Keep(*request, victim->pod->metadata.uid)});
      } else {
        WrittenObject written = all_.scribe_->Pod(*victim->pod);
        full.pods.push_back(Keep(*request, victim->pod->Key()));
        full.pod_digests.push_back(Keep(*request, std::move(written.digest)));
        items.push_back(std::move(written.json));
      }
    }
    entries.push_back(absl::StrCat(Quoted(node), ":{\"Pods\":", JsonList(items),
                                   ",\"NumPDBViolations\":", on_node.violations, "}"));
    if (by_uid) {
      record.meta_victims->emplace_back(name, std::move(meta));
    } else {
      record.victims->emplace_back(name, std::move(full));
    }
  }
  const std::string map = absl::StrCat("{", absl::StrJoin(entries, ","), "}");
  request->body =
      absl::StrCat("{\"Pod\":", written_pod.json, ",\"NodeNameToVictims\":", by_uid ? "null" : map,
                   ",\"NodeNameToMetaVictims\":", by_uid ? map : "null", "}");
  return request;
}

std::string HttpExtenders::HttpExtender::TakeFilterAnswer(FilterAnswer answer, NodeInfos nodes,
                                                          ExtenderFilterResult& result) const {
  if (!answer.error.empty()) return answer.error;
  result.failed = std::move(answer.failed_nodes);
  result.failed_and_unresolvable = std::move(answer.failed_and_unresolvable_nodes);
  if (config_.node_cache_capable && answer.node_names.has_value()) {
    std::map<absl::string_view, size_t> by_name;
    for (size_t i = 0; i < nodes.size(); ++i) by_name[nodes[i]->node->metadata.name] = i;
    for (const std::string& name : *answer.node_names) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) {
        return absl::StrCat("extender ", api::GoQuote(config_.url_prefix), " claims a filtered node ",
                            api::GoQuote(name), " which is not found in the input node list");
      }
      result.kept.push_back(found->second);
    }
  } else if (answer.nodes.has_value()) {
    result.objects = *std::move(answer.nodes);
  }
  return "";
}

ExtenderFilterResult HttpExtenders::HttpExtender::Filter(const PodInfo& pod, NodeInfos nodes) {
  ExtenderCall call;
  std::shared_ptr<Request> request = NodesRequest(pod, nodes, call);
  const auto result = std::make_shared<ExtenderFilterResult>();
  const std::string error =
      CallAndWait(ExtenderVerb::kFilter, pod, std::move(request), std::move(call),
                  [this, nodes, result](absl::string_view body) {
                    FilterAnswer answer;
                    std::string wrong = ParseFilterAnswer(body, answer);
                    return wrong.empty() ? TakeFilterAnswer(std::move(answer), nodes, *result) : wrong;
                  });
  if (!error.empty()) return {.error = error};
  return std::move(*result);
}

void HttpExtenders::HttpExtender::Prioritize(const PodInfo& pod, NodeInfos nodes, PrioritiesCallback done) {
  ExtenderCall call;
  std::shared_ptr<Request> request = NodesRequest(pod, nodes, call);
  const auto scores = std::make_shared<PriorityList>();
  Call(
      ExtenderVerb::kPrioritize, pod, std::move(request), std::move(call),
      [scores](absl::string_view body) { return ParsePriorities(body, *scores); },
      [scores, done = std::move(done)](std::string error) {
        if (error.empty()) {
          done({.error = std::nullopt, .scores = std::move(*scores)});
        } else {
          done({.error = std::move(error), .scores = {}});
        }
      });
}

ExtenderPreemptionResult HttpExtenders::HttpExtender::ProcessPreemption(
    const PodInfo& pod, const VictimsByNode& victims, const framework::SnapshotLister& snapshot) {
  ExtenderPreemptionResult result;
  const auto take = [this, &snapshot, &result](absl::string_view body) -> std::string {
    std::map<std::string, MetaVictims> answer;
    std::string wrong = ParsePreemptionAnswer(body, answer);
    if (!wrong.empty()) return wrong;
    for (const auto& [name, meta] : answer) {
      const auto found =
          std::find_if(snapshot.List().begin(), snapshot.List().end(),
                       [&](const NodeInfo* node) { return node->node->metadata.name == name; });
      if (found == snapshot.List().end()) {
        return absl::StrCat("nodeinfo not found for node name ", api::GoQuote(name));
      }
      framework::ExtenderVictims& on_node = result.victims[name];
      on_node.violations = meta.violations;
      for (const std::string& uid : meta.uids) {
        const std::vector<framework::PodInfoPtr>& pods = (*found)->pods;
        const auto victim = std::find_if(pods.begin(), pods.end(), [&](const framework::PodInfoPtr& other) {
          return other->pod->metadata.uid == uid;
        });
        if (victim == pods.end()) {
          return absl::StrCat("extender: ", config_.url_prefix, " claims to preempt pod (UID: &{", uid,
                              "}) on node: ", name, ", but the pod is not found on that node");
        }
        on_node.pods.push_back(*victim);
      }
    }
    return "";
  };
  const std::string error = CallAndWait(ExtenderVerb::kPreempt, pod, VictimsRequest(pod, victims), {}, take);
  if (!error.empty()) return {.error = error, .victims = {}};
  return result;
}

void HttpExtenders::HttpExtender::Bind(const PodInfo& pod, absl::string_view node_name, BindCallback done) {
  auto request = std::make_shared<Request>();
  const api::ObjectMeta& meta = pod.pod->metadata;
  request->texts.reserve(4);
  request->record.pod_name = Keep(*request, meta.name);
  request->record.pod_namespace = Keep(*request, meta.namespace_);
  request->record.pod_uid = Keep(*request, meta.uid);
  request->record.node = Keep(*request, std::string(node_name));
  request->body =
      absl::StrCat("{\"PodName\":", Quoted(meta.name), ",\"PodNamespace\":", Quoted(meta.namespace_),
                   ",\"PodUID\":", Quoted(meta.uid), ",\"Node\":", Quoted(node_name), "}");
  ExtenderCall call;
  call.node = std::string(node_name);
  const auto take = [this, bound = pod.pod, node = call.node](absl::string_view body) {
    std::string said;
    std::string wrong = ParseBindingAnswer(body, said);
    if (wrong.empty()) wrong = said;
    if (!wrong.empty() || !all_.options_.binds) return wrong;
    const absl::Status status = all_.world_.server.Bind(*bound, node);
    if (status.ok()) all_.world_.trace.Bind(*bound, node);
    return std::string(status.message());
  };
  Call(ExtenderVerb::kBind, pod, std::move(request), std::move(call), take,
       [done = std::move(done)](std::string error) {
         done(error.empty() ? std::nullopt : std::optional<std::string>(std::move(error)));
       });
}

std::vector<std::string> ResourcesIgnoredForExtenders(const api::KubeSchedulerConfiguration& config) {
  std::vector<std::string> ignored;
  for (const api::Extender& extender : config.extenders) {
    for (const api::ExtenderManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
    }
  }
  return ignored;
}

}  // namespace schedsim::sim
