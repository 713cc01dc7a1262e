// ScriptedA, ScriptedB, ScriptedC and Plain do what their arguments say, and LowFirst sorts the queue by
// lower priority: the plugins with which conformance cases of the families scripted and underlayip were
// recorded. They use what every plugin of a library can use. docs/conformance.md has the language of the
// arguments.
#include <schedsim/plugin.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using nlohmann::json;
using schedsim::plugin::Code;
using schedsim::plugin::CycleState;
using schedsim::plugin::Done;
using schedsim::plugin::Events;
using schedsim::plugin::Handle;
using schedsim::plugin::Hinted;
using schedsim::plugin::Node;
using schedsim::plugin::Nodes;
using schedsim::plugin::NodeStatuses;
using schedsim::plugin::Object;
using schedsim::plugin::PermitResult;
using schedsim::plugin::Pod;
using schedsim::plugin::PostFilterResult;
using schedsim::plugin::PreFilterResult;
using schedsim::plugin::QueueingHint;
using schedsim::plugin::Scored;
using schedsim::plugin::Signer;
using schedsim::plugin::Status;

constexpr int64_t kMaxScore = 100;

// FNV-1a of 32 bits.
uint32_t Hash(const std::string& text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

// The member of a map; null where there is none.
const json& Get(const json& map, const char* name) {
  static const auto* const kNone = new json;
  const auto found = map.find(name);
  return found == map.end() ? *kNone : *found;
}

template <typename T>
T ValueOf(const json& map, const char* name, T fallback) {
  const json& value = Get(map, name);
  return value.is_null() ? fallback : value.get<T>();
}

std::chrono::nanoseconds Seconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<int64_t>(std::round(seconds * 1e9)));
}

std::string LabelOf(const Object& object, const std::string& key) {
  return std::string(object.label(key).value_or(""));
}

// Whether the object has all of these labels; an absent one is "".
bool LabelsHold(const json& wanted, const Object& object) {
  return std::all_of(wanted.items().begin(), wanted.items().end(), [&object](const auto& label) {
    return LabelOf(object, label.key()) == label.value().template get<std::string>();
  });
}

bool Within(int call, const json& range) {
  return range.is_null() || (call >= range[0].get<int>() && call <= range[1].get<int>());
}

bool HashHolds(const json& hash, const std::string& text) {
  return hash.is_null() || Hash(text) % hash["mod"].get<uint32_t>() < hash["below"].get<uint32_t>();
}

Status StatusOf(const std::string& code, const json& message) {
  static const auto* const kCodes =
      new std::map<std::string, Code>{{"", Code::kSuccess},
                                      {"Success", Code::kSuccess},
                                      {"Error", Code::kError},
                                      {"Unschedulable", Code::kUnschedulable},
                                      {"UnschedulableAndUnresolvable", Code::kUnschedulableAndUnresolvable},
                                      {"Wait", Code::kWait},
                                      {"Skip", Code::kSkip},
                                      {"Pending", Code::kPending}};
  Status status = {.code = kCodes->at(code)};
  if (!status.ok() && !message.is_null()) status.reasons.push_back(message.get<std::string>());
  return status;
}

// The answer of a rule; nullptr: Success.
Status StatusOf(const json* rule) {
  if (rule == nullptr) return {};
  return StatusOf(ValueOf<std::string>(*rule, "code", ""), Get(*rule, "message"));
}

// What is looked at beside a pod. `node` is absent where only its name, or none, is known.
struct Seen {
  int call = 0;
  std::optional<Node> node = std::nullopt;
  std::string node_name = "";
  CycleState* state = nullptr;
  std::optional<Pod> other = std::nullopt;
};

class Scripted {
 public:
  Scripted(Handle handle, std::string name) : handle_(handle), name_(std::move(name)) {
    if (!handle.args().empty()) args_ = json::parse(handle.args());
    if (!args_.is_object()) args_ = json::object();
  }

  Status Init() {
    const std::string error = ValueOf<std::string>(args_, "factoryError", "");
    return error.empty() ? Status() : Status::Error(error);
  }

  Status PreEnqueue(Pod pod) {
    const Status status = StatusOf(Find("preEnqueue", pod, {.call = Called("PreEnqueue", pod)}));
    if (!status.ok()) handle_.Note("PreEnqueue", pod, "", status);
    return status;
  }

  PreFilterResult PreFilter(CycleState& state, Pod pod, Nodes nodes) {
    const int call = Called("PreFilter", pod);
    if (!Count().empty()) {
      Counts counts;
      for (const Node node : nodes) {
        for (size_t i = 0; i < node.pod_count(); ++i) {
          if (IsCounted(node.pod(i))) ++counts[std::string(node.name())];
        }
      }
      state.Write("counts", std::move(counts));
    }
    const json* const rule = Find("preFilter", pod, {.call = call});
    if (rule == nullptr) return {};
    const json& names = Get(*rule, "nodes");
    if (!names.is_null()) return {StatusOf(rule), names.get<std::vector<std::string>>()};
    const json& labels = Get(*rule, "nodesLabel");
    if (labels.is_null()) return StatusOf(rule);
    std::vector<std::string> labelled;
    for (const Node node : nodes) {
      if (LabelsHold(labels, node.object())) labelled.emplace_back(node.name());
    }
    return {StatusOf(rule), labelled};
  }

  Status AddPod(CycleState& state, Pod pod, Pod other, Node node) {
    Bump(state, other, node, 1);
    return StatusOf(Find("addPod", pod, {.node = node, .state = &state, .other = other}));
  }

  Status RemovePod(CycleState& state, Pod pod, Pod other, Node node) {
    Bump(state, other, node, -1);
    return StatusOf(Find("removePod", pod, {.node = node, .state = &state, .other = other}));
  }

  Status Filter(CycleState& state, Pod pod, Node node) {
    return StatusOf(Find("filter", pod, {.node = node, .state = &state}));
  }

  PostFilterResult PostFilter(CycleState&, Pod pod, NodeStatuses) {
    const json* const rule = Find("postFilter", pod, {.call = Called("PostFilter", pod)});
    PostFilterResult result = {.status = {.code = Code::kUnschedulable}};
    if (rule != nullptr) {
      result.status = StatusOf(rule);
      if (ValueOf<std::string>(*rule, "result", "") == "override") {
        result.nominated_node_name = ValueOf<std::string>(*rule, "nominate", "");
      }
    }
    handle_.Note("PostFilter", pod, "", result.status);
    return result;
  }

  Status PreScore(CycleState&, Pod pod, Nodes) { return StatusOf(Find("preScore", pod, {})); }

  Scored Score(CycleState& state, Pod pod, Node node) {
    const json* const rule = Find("score", pod, {.node = node, .state = &state});
    if (rule == nullptr) return 0;
    int64_t score = ValueOf<int64_t>(*rule, "score", 0);
    const std::string label = ValueOf<std::string>(*rule, "scoreLabel", "");
    if (!label.empty()) {
      const std::string text = LabelOf(node.object(), label);
      int64_t number = 0;
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
      if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) score = number;
    }
    const uint32_t modulus = ValueOf<uint32_t>(*rule, "scoreHash", 0);
    if (modulus != 0) score = Hash(pod.key() + "@" + std::string(node.name())) % modulus;
    return {score, StatusOf(rule)};
  }

  // Without `normalize` the scores are left as they are, which is as good as not to normalise.
  Status NormalizeScore(CycleState&, Pod, Nodes, std::span<int64_t> scores) {
    const json& how = Get(args_, "normalize");
    const std::string mode = ValueOf<std::string>(how.is_null() ? json::object() : how, "mode", "");
    if (mode == "default") {
      DefaultNormalize(ValueOf(how, "reverse", false), scores);
    } else if (mode == "add") {
      for (int64_t& score : scores) score += ValueOf<int64_t>(how, "add", 0);
    } else if (mode == "fail") {
      return StatusOf(ValueOf<std::string>(how, "code", ""), ValueOf<std::string>(how, "message", ""));
    }
    return {};
  }

  Status Reserve(CycleState&, Pod pod, std::string_view node) {
    return AtNode("reserve", "Reserve", pod, node);
  }
  void Unreserve(CycleState&, Pod pod, std::string_view node) { handle_.Note("Unreserve", pod, node, {}); }

  PermitResult Permit(CycleState&, Pod pod, std::string_view node) {
    const json* const rule =
        Find("permit", pod, {.call = Called("Permit", pod), .node_name = std::string(node)});
    const Status status = StatusOf(rule);
    handle_.Note("Permit", pod, node, status);
    if (rule == nullptr) return {};
    Signal(*rule);
    return {status, Seconds(ValueOf(*rule, "timeout", 0.0))};
  }

  Status PreBindPreFlight(CycleState&, Pod pod, std::string_view node) {
    return AtNode("preBindPreFlight", "PreBindPreFlight", pod, node);
  }

  void PreBind(CycleState&, Pod pod, std::string_view node, Done done) {
    const std::string name(node);
    const json* const rule = Find("preBind", pod, {.call = Called("PreBind", pod), .node_name = name});
    const auto end = [this, pod, name, done](const Status& status) {
      handle_.Note("PreBind", pod, name, status);
      done(status);
    };
    const double delay = rule == nullptr ? 0 : ValueOf(*rule, "delay", 0.0);
    if (delay <= 0) {
      end(StatusOf(rule));
      return;
    }
    Handle::Timer timer = handle_.Post(Seconds(delay), [end, rule] { end(StatusOf(rule)); });
    done.OnCancel([end, timer, done]() mutable {
      timer.Cancel();
      end(Status::Error(done.cause()));
    });
  }

  void Bind(CycleState&, Pod pod, std::string_view node, Done done) {
    const std::string name(node);
    const json* const rule = Find("bind", pod, {.call = Called("Bind", pod), .node_name = name});
    const auto end = [this, pod, name, done](const Status& status) {
      handle_.Note("Bind", pod, name, status);
      done(status);
    };
    if (rule == nullptr) {
      end(Status::Skip());
      return;
    }
    const auto bind = [this, pod, name, rule, end] {
      const Status status = StatusOf(rule);
      if (!status.ok() || ValueOf<std::string>(*rule, "do", "") == "none") {
        end(status);
        return;
      }
      handle_.Bind(pod, name, [end](std::string_view error) {
        end(error.empty() ? Status() : Status::Error(std::string(error)));
      });
    };
    const double delay = ValueOf(*rule, "delay", 0.0);
    if (delay > 0) {
      handle_.Post(Seconds(delay), bind);
    } else {
      bind();
    }
  }

  void PostBind(CycleState&, Pod pod, std::string_view node) {
    handle_.Note("PostBind", pod, node, {});
    const json* const rule =
        Find("postBind", pod, {.call = Called("PostBind", pod), .node_name = std::string(node)});
    if (rule != nullptr) Signal(*rule);
  }

 protected:
  Handle handle_;
  const std::string name_;
  json args_ = json::object();

  int Called(const char* point, Pod pod) { return ++calls_[std::string(point) + " " + pod.key()]; }

  bool Holds(const json& when, Pod pod, const Seen& seen) const {
    if (when.is_null()) return true;
    if (!LabelsHold(Get(when, "podLabel"), pod.object()) || !Within(seen.call, Get(when, "calls")))
      return false;
    const std::string absent = ValueOf<std::string>(when, "noLabel", "");
    if (!absent.empty() && pod.label(absent).has_value()) return false;
    if (!HashHolds(Get(when, "podHash"), pod.key())) return false;
    const auto cycles = calls_.find("PreFilter " + pod.key());
    if (!Within(cycles == calls_.end() ? 0 : cycles->second, Get(when, "cycle"))) return false;
    const json& other = Get(when, "otherLabel");
    return other.empty() || (seen.other.has_value() && LabelsHold(other, seen.other->object()));
  }

 private:
  using Counts = std::map<std::string, int>;

  const json& Count() const { return Get(args_, "count"); }
  bool IsCounted(Pod pod) const { return !Count().empty() && LabelsHold(Count(), pod.object()); }

  void Bump(CycleState& state, Pod pod, Node node, int by) const {
    auto* counts = state.Read<Counts>("counts");
    if (counts != nullptr && IsCounted(pod)) (*counts)[std::string(node.name())] += by;
  }

  static bool Matches(const json& match, Pod pod, const Seen& seen, const std::string& name) {
    if (match.is_null()) return true;
    const json& names = Get(match, "names");
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) return false;
    const auto has = [&seen](const std::string& key) {
      return seen.node.has_value() ? seen.node->label(key) : std::nullopt;
    };
    for (const auto& [key, value] : Get(match, "label").items()) {
      if (has(key).value_or("") != value.get<std::string>()) return false;
    }
    const std::string wanted = ValueOf<std::string>(match, "hasLabel", "");
    if (!wanted.empty() && !has(wanted).has_value()) return false;
    const std::string unwanted = ValueOf<std::string>(match, "noLabel", "");
    if (!unwanted.empty() && has(unwanted).has_value()) return false;
    if (!HashHolds(Get(match, "hash"), pod.key() + "@" + name)) return false;
    const std::string same = ValueOf<std::string>(match, "sameLabel", "");
    return same.empty() || (pod.label(same).has_value() && pod.label(same) == has(same));
  }

  // The first rule that holds; nullptr: none.
  const json* Find(const char* point, Pod pod, const Seen& seen) const {
    const std::string name = seen.node.has_value() ? std::string(seen.node->name()) : seen.node_name;
    for (const json& rule : Get(args_, point)) {
      if (!Holds(Get(rule, "when"), pod, seen)) continue;
      const json& match = Get(rule, "match");
      if (!Matches(match, pod, seen, name)) continue;
      const json& none = json::object();
      const size_t pods = ValueOf<size_t>(match.is_null() ? none : match, "podsAtLeast", 0);
      if (pods > 0 && (!seen.node.has_value() || seen.node->pod_count() < pods)) continue;
      const int count = ValueOf<int>(match.is_null() ? none : match, "countAtLeast", 0);
      if (count > 0 && CountOn(seen.state, name) < count) continue;
      return &rule;
    }
    return nullptr;
  }

  static int CountOn(const CycleState* state, const std::string& node) {
    const auto* counts = state == nullptr ? nullptr : state->Read<Counts>("counts");
    if (counts == nullptr) return 0;
    const auto found = counts->find(node);
    return found == counts->end() ? 0 : found->second;
  }

  Status AtNode(const char* rules, const char* point, Pod pod, std::string_view node) {
    const Status status =
        StatusOf(Find(rules, pod, {.call = Called(point, pod), .node_name = std::string(node)}));
    handle_.Note(point, pod, node, status);
    return status;
  }

  // Allows and rejects waiting pods, by name.
  void Signal(const json& rule) {
    const json& allow = Get(rule, "allow");
    const json& reject = Get(rule, "reject");
    if (allow.is_null() && reject.is_null()) return;
    std::vector<Pod> waiting = handle_.WaitingPods();
    std::sort(waiting.begin(), waiting.end(), [](Pod a, Pod b) { return a.key() < b.key(); });
    for (const Pod pod : waiting) {
      if (!allow.is_null() && LabelsHold(Get(allow, "podLabel"), pod.object())) {
        handle_.Note("Allow", pod, "", {});
        handle_.Allow(pod);
      } else if (!reject.is_null() && LabelsHold(Get(reject, "podLabel"), pod.object())) {
        handle_.Note("Reject", pod, "", {});
        handle_.Reject(pod, ValueOf<std::string>(reject, "message", ""));
      }
    }
  }

  // As DefaultNormalizeScore of kube-scheduler.
  static void DefaultNormalize(bool reverse, std::span<int64_t> scores) {
    int64_t highest = 0;
    for (const int64_t score : scores) highest = std::max(highest, score);
    for (int64_t& score : scores) {
      if (highest != 0) score = kMaxScore * score / highest;
      if (reverse) score = highest == 0 ? kMaxScore : kMaxScore - score;
    }
  }

  std::map<std::string, int> calls_;  // By point and pod.
};

// Also registers events, and signs pods.
class ScriptedFull : public Scripted {
 public:
  using Scripted::Scripted;

  Status EventsToRegister(Events& events) {
    const std::string error = ValueOf<std::string>(args_, "eventsError", "");
    if (!error.empty()) return Status::Error(error);
    for (const json& event : Get(args_, "events")) {
      uint32_t actions = 0;
      for (const json& action : event["actions"]) actions |= ActionOf(action.get<std::string>());
      schedsim::plugin::QueueingHintFn hint;
      if (!Get(event, "hint").is_null()) {
        hint = [this, &event](Pod pod, std::optional<Object> before, std::optional<Object> after) {
          return Hint(event, pod, after.has_value() ? *after : *before);
        };
      }
      events.Register(event["resource"].get<std::string>(), actions, std::move(hint));
    }
    return {};
  }

  Status SignPod(Pod pod, Signer& signer) {
    const json& sign = Get(args_, "sign");
    const std::string mode = sign.is_null() ? "" : ValueOf<std::string>(sign, "mode", "");
    if (mode == "label") {
      signer.Add("oracle/" + name_, LabelOf(pod.object(), ValueOf<std::string>(sign, "key", "")));
    }
    if (mode == "refuse") return Status::Unschedulable("not signed");
    if (mode == "error") return Status::Error("cannot sign");
    return {};
  }

 private:
  static uint32_t ActionOf(const std::string& name) {
    static const auto* const kActions = new std::map<std::string, uint32_t>{
        {"Add", SCHEDSIM_ADD},
        {"Delete", SCHEDSIM_DELETE},
        {"Update", SCHEDSIM_UPDATE},
        {"All", SCHEDSIM_ALL},
        {"UpdateNodeAllocatable", SCHEDSIM_UPDATE_NODE_ALLOCATABLE},
        {"UpdateNodeLabel", SCHEDSIM_UPDATE_NODE_LABEL},
        {"UpdateNodeTaint", SCHEDSIM_UPDATE_NODE_TAINT},
        {"UpdateNodeCondition", SCHEDSIM_UPDATE_NODE_CONDITION},
        {"UpdateNodeAnnotation", SCHEDSIM_UPDATE_NODE_ANNOTATION},
        {"UpdatePodLabel", SCHEDSIM_UPDATE_POD_LABEL},
        {"UpdatePodScaleDown", SCHEDSIM_UPDATE_POD_SCALE_DOWN},
        {"UpdatePodToleration", SCHEDSIM_UPDATE_POD_TOLERATION},
        {"UpdatePodSchedulingGatesEliminated", SCHEDSIM_UPDATE_POD_SCHEDULING_GATES_ELIMINATED}};
    return kActions->at(name);
  }

  Hinted Hint(const json& event, Pod pod, const Object& object) {
    const Seen seen = {.call = Called("Hint", pod)};
    std::string answer = "Queue";
    for (const json& rule : Get(event, "hint")) {
      if (!Holds(Get(rule, "when"), pod, seen) || !LabelsHold(Get(rule, "objLabel"), object)) continue;
      answer = ValueOf<std::string>(rule, "answer", "");
      break;
    }
    if (answer == "Skip") return QueueingHint::kSkip;
    if (answer == "Error") return Status::Error("the hint of " + name_ + " fails");
    return QueueingHint::kQueue;
  }
};

class ScriptedA : public ScriptedFull {
 public:
  static constexpr char kName[] = "ScriptedA";
  explicit ScriptedA(Handle handle) : ScriptedFull(handle, kName) {}
};

class ScriptedB : public ScriptedFull {
 public:
  static constexpr char kName[] = "ScriptedB";
  explicit ScriptedB(Handle handle) : ScriptedFull(handle, kName) {}
};

class ScriptedC : public ScriptedFull {
 public:
  static constexpr char kName[] = "ScriptedC";
  explicit ScriptedC(Handle handle) : ScriptedFull(handle, kName) {}
};

// Neither registers events nor signs pods.
class Plain : public Scripted {
 public:
  static constexpr char kName[] = "Plain";
  explicit Plain(Handle handle) : Scripted(handle, kName) {}
};

class LowFirst {
 public:
  static constexpr char kName[] = "LowFirst";
  explicit LowFirst(Handle) {}

  bool Less(schedsim::plugin::QueuedPod a, schedsim::plugin::QueuedPod b) {
    const int32_t left = a.pod().priority();
    const int32_t right = b.pod().priority();
    return left < right || (left == right && a.timestamp() < b.timestamp());
  }
};

}  // namespace

const schedsim_library* schedsim_plugin_library(const schedsim_host* host) {
  return schedsim::plugin::Library<ScriptedA, ScriptedB, ScriptedC, Plain, LowFirst>(host);
}
