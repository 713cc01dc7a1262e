#include "sim/extenders/extender_messages.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"
#include "sim/extenders/go_form.h"
#include "sim/extenders/go_json_decode.h"

namespace schedsim::sim {
namespace {

using codec::Document;
using codec::Member;
using codec::Value;

// So many nodes are kept, with all their versions.
constexpr size_t kNodesMax = 20'000;

Value WithMember(const Value& map, absl::string_view key, const Value& value, Document& document) {
  std::vector<Member> members;
  for (const Member& member : map.members) {
    if (member.key != key) members.push_back(member);
  }
  members.push_back({.key = key, .key_position = {}, .value = value});
  return document.MakeObject(members);
}

// The pod's conditions with the times that its own object lacks.
Value WithConditionTimes(const Value& root, const api::Pod& pod, const ConditionTimes& times,
                         Document& document) {
  constexpr absl::string_view kTime = "lastTransitionTime";
  const Value* const status = root.Find("status");
  const Value* const conditions = status == nullptr ? nullptr : status->Find("conditions");
  if (conditions == nullptr) return root;
  std::vector<Value> items(conditions->items.begin(), conditions->items.end());
  for (Value& item : items) {
    const Value* const type = item.Find("type");
    const Value* const value = item.Find("status");
    if (type == nullptr || value == nullptr) continue;
    const std::optional<absl::Time> time = times.Find(pod, type->text, value->text);
    if (!time.has_value()) continue;
    item = WithMember(item, kTime, document.MakeText(api::FormatRfc3339Seconds(*time)), document);
  }
  Value list = *conditions;
  list.items = document.CopyItems(items);
  return WithMember(root, "status", WithMember(*status, "conditions", list, document), document);
}

// The same with its grace period, which the API server sets with the deletionTimestamp.
Value WithGracePeriod(const Value& root, const api::Pod& pod, const ConditionTimes& times,
                      Document& document) {
  const Value* const metadata = root.Find("metadata");
  const std::optional<int64_t> seconds = times.GraceSeconds(pod);
  if (metadata == nullptr || !seconds.has_value()) return root;
  Value number = document.MakeText(absl::StrCat(*seconds));
  number.type = Value::Type::kNumber;
  return WithMember(root, "metadata", WithMember(*metadata, "deletionGracePeriodSeconds", number, document),
                    document);
}

Value WithoutType(const Value& root, Document& document) {
  std::vector<Member> members;
  for (const Member& member : root.members) {
    if (member.key != "apiVersion" && member.key != "kind") members.push_back(member);
  }
  return document.MakeObject(members);
}

// A node of an answer; `error` is set where it cannot be read.
api::NodePtr ReadNode(const Value& value, codec::ObjectReader& reader, std::string& error) {
  Document document;
  const Value typed = WithMember(WithMember(value, "kind", codec::TextValue("Node"), document), "apiVersion",
                                 codec::TextValue("v1"), document);
  const absl::StatusOr<api::ObjectPtr> object = reader.Decode(typed, "answer");
  if (object.ok()) {
    auto node = std::make_shared<api::Node>(static_cast<const api::Node&>(**object));
    node->json = std::make_shared<api::ObjectText>(codec::ToJson(value));
    return node;
  }
  if (error.empty()) error = std::string(object.status().message());
  return nullptr;
}

void ReadNodeList(const Value& value, const GoDecoder::Place& place, GoDecoder& decoder, FilterAnswer& answer,
                  std::string& error) {
  if (value.is_null()) {
    answer.nodes.reset();
    return;
  }
  codec::ObjectReader reader({.validate = false});
  const auto read_items = [&](const Value& items, const GoDecoder::Place& items_place) {
    decoder.ReadList(items, items_place, "[]v1.Node", [&](const Value& item) {
      if (!decoder.ReadStruct(item, items_place, "Node", {})) return;
      const api::NodePtr node = ReadNode(item, reader, error);
      if (node != nullptr) answer.nodes->push_back(node);
    });
  };
  answer.nodes.emplace();
  if (!decoder.ReadStruct(value, place, "NodeList", {{"items", read_items}})) answer.nodes.reset();
}

}  // namespace

const WrittenObject& ObjectScribe::Node(const api::NodePtr& node, bool is_foreign) {
  const auto known = nodes_.find(node.get());
  if (known != nodes_.end()) return known->second.written;
  if (nodes_.size() >= kNodesMax) nodes_.clear();
  return (nodes_[node.get()] = {.node = node, .written = Write(*node, is_foreign || sends_types_)}).written;
}

WrittenObject ObjectScribe::Pod(const api::Pod& pod) const { return Write(pod, sends_types_); }

WrittenObject ObjectScribe::Write(const api::Object& object, bool keeps_type) const {
  WrittenObject written;
  codec::VisitObjectTree(object, [&](const Value& tree) {
    Document document;
    const bool is_pod = object.kind == api::Kind::kPod;
    Value root = tree;
    if (is_pod) {
      const auto& pod = static_cast<const api::Pod&>(object);
      root = WithGracePeriod(WithConditionTimes(root, pod, times_, document), pod, times_, document);
    }
    root = InGoForm(root, "v1", is_pod ? "Pod" : "Node", document);
    if (!keeps_type) root = WithoutType(root, document);
    written = {.json = GoJson(root, /*escapes_html=*/true), .digest = ObjectDigest(root)};
  });
  return written;
}

std::string ParseFilterAnswer(absl::string_view body, FilterAnswer& answer) {
  GoDecoder decoder;
  std::string node_error;
  using Place = GoDecoder::Place;
  const std::string error = ReadGoJson(body, [&](const Value& root) {
    const auto read_names = [&](const Value& value, const Place& place) {
      if (!decoder.ReadTexts(value, place, answer.node_names.emplace())) answer.node_names.reset();
    };
    const auto read_nodes = [&](const Value& value, const Place& place) {
      ReadNodeList(value, place, decoder, answer, node_error);
    };
    const auto map_reader = [&](std::map<std::string, std::string>& map) {
      return [&](const Value& value, const Place& place) {
        decoder.ReadTextMap(value, place, "v1.FailedNodesMap", map);
      };
    };
    decoder.ReadStruct(root, {}, "ExtenderFilterResult",
                       {{"Nodes", read_nodes},
                        {"NodeNames", read_names},
                        {"FailedNodes", map_reader(answer.failed_nodes)},
                        {"FailedAndUnresolvableNodes", map_reader(answer.failed_and_unresolvable_nodes)},
                        {"Error", [&](const Value& value, const Place& place) {
                           decoder.ReadText(value, place, answer.error);
                         }}});
  });
  if (!error.empty()) return error;
  return decoder.error().empty() ? node_error : decoder.error();
}

std::string ParsePriorities(absl::string_view body, PriorityList& answer) {
  GoDecoder decoder;
  using Place = GoDecoder::Place;
  const std::string error = ReadGoJson(body, [&](const Value& root) {
    decoder.ReadList(root, {}, "v1.HostPriorityList", [&](const Value& item) {
      auto& [host, score] = answer.emplace_back();
      decoder.ReadStruct(
          item, {}, "HostPriority",
          {{"Host", [&](const Value& value, const Place& place) { decoder.ReadText(value, place, host); }},
           {"Score",
            [&](const Value& value, const Place& place) { decoder.ReadInteger(value, place, score); }}});
    });
  });
  return error.empty() ? decoder.error() : error;
}

std::string ParsePreemptionAnswer(absl::string_view body, std::map<std::string, MetaVictims>& answer) {
  GoDecoder decoder;
  using Place = GoDecoder::Place;
  // The real scheduler crashes where there is null for a node's victims, or for one of them.
  std::string null_error;
  const auto read_pod = [&](const Value& item, const Place& place, MetaVictims& victims) {
    if (item.is_null()) null_error = "null among the victims";
    decoder.ReadStruct(item, place, "MetaPod", {{"UID", [&](const Value& value, const Place& uid_place) {
                                                   decoder.ReadText(value, uid_place,
                                                                    victims.uids.emplace_back());
                                                 }}});
  };
  const auto read_victims = [&](const Value& value, const Place& place, MetaVictims& victims) {
    if (value.is_null()) null_error = "null for the victims on a node";
    const auto read_pods = [&](const Value& pods, const Place& pods_place) {
      decoder.ReadList(pods, pods_place, "[]*v1.MetaPod",
                       [&](const Value& item) { read_pod(item, pods_place, victims); });
    };
    decoder.ReadStruct(
        value, place, "MetaVictims",
        {{"Pods", read_pods}, {"NumPDBViolations", [&](const Value& number, const Place& number_place) {
                                 decoder.ReadInteger(number, number_place, victims.violations);
                               }}});
  };
  const auto read_map = [&](const Value& map, const Place& place) {
    decoder.ReadMap(
        map, place, "map[string]*v1.MetaVictims",
        [&](const std::string& node, const Value& value) { read_victims(value, place, answer[node]); });
  };
  const std::string error = ReadGoJson(body, [&](const Value& root) {
    decoder.ReadStruct(root, {}, "ExtenderPreemptionResult", {{"NodeNameToMetaVictims", read_map}});
  });
  if (!error.empty()) return error;
  return decoder.error().empty() ? null_error : decoder.error();
}

std::string ParseBindingAnswer(absl::string_view body, std::string& said) {
  GoDecoder decoder;
  const std::string error = ReadGoJson(body, [&](const Value& root) {
    decoder.ReadStruct(root, {}, "ExtenderBindingResult",
                       {{"Error", [&](const Value& value, const GoDecoder::Place& place) {
                           decoder.ReadText(value, place, said);
                         }}});
  });
  return error.empty() ? decoder.error() : error;
}

}  // namespace schedsim::sim
