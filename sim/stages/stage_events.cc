#include "sim/stages/stage_events.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/base/status_macros.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {
namespace {

using codec::Member;
using codec::Value;

constexpr absl::Duration kTimeToLive = absl::Hours(1);
constexpr char kSource[] = "kwok_controller";

Member Text(absl::string_view key, absl::string_view text, codec::Document& document) {
  return {.key = key, .value = {.type = Value::Type::kString, .text = document.CopyText(text)}};
}

Member Number(absl::string_view key, int64_t number, codec::Document& document) {
  return {.key = key,
          .value = {.type = Value::Type::kNumber, .text = document.CopyText(absl::StrCat(number))}};
}

Member Map(absl::string_view key, const std::vector<Member>& members, codec::Document& document) {
  return {.key = key, .value = document.MakeObject(members)};
}

Member InvolvedObject(const api::Object& object, codec::Document& document) {
  const api::ObjectMeta& meta = object.metadata;
  const absl::string_view kind =
      object.kind == api::Kind::kOther ? absl::string_view(object.kind_name) : api::KindName(object.kind);
  std::vector<Member> members = {Text("apiVersion", object.api_version, document),
                                 Text("kind", std::string(kind), document),
                                 Text("name", meta.name, document)};
  if (!meta.namespace_.empty()) members.push_back(Text("namespace", meta.namespace_, document));
  members.push_back(Text("resourceVersion", absl::StrCat(meta.resource_version), document));
  members.push_back(Text("uid", meta.uid, document));
  return Map("involvedObject", members, document);
}

}  // namespace

absl::Status StageEvents::Send(const StageEvent& event, const api::Object& object) {
  const std::string key =
      absl::StrCat(object.api_version, "\n", object.kind_name, "\n", object.Key(), "\n", object.metadata.uid,
                   "\n", event.type, "\n", event.reason, "\n", event.message);
  const absl::string_view own = object.metadata.namespace_;
  const auto [at, is_new] =
      sent_.emplace(key, Sent{.name_space = std::string(own.empty() ? "default" : own)});
  Sent& sent = at->second;
  sent.last = loop_.Now();
  if (!is_new) {
    ++sent.count;
    return Count(sent);
  }
  sent.first = loop_.Now();
  // The name says when, in nanoseconds: the next one that is free.
  int64_t time = absl::ToUnixNanos(loop_.Now());
  do {
    sent.name = absl::StrCat(object.metadata.name, ".", absl::Hex(time++));
  } while (server_.FindOther("v1", "Event", absl::StrCat(sent.name_space, "/", sent.name)) != nullptr);
  const absl::Status status = Create(event, object, sent);
  if (status.ok()) {
    EndLater(key);
  } else {
    sent_.erase(at);
  }
  return status;
}

absl::Status StageEvents::Create(const StageEvent& event, const api::Object& object, const Sent& sent) {
  codec::Document document;
  const std::vector<Member> metadata = {Text("name", sent.name, document),
                                        Text("namespace", sent.name_space, document)};
  const std::vector<Member> source = {Text("component", kSource, document)};
  const std::vector<Member> members = {
      Text("apiVersion", "v1", document),
      Text("kind", "Event", document),
      Map("metadata", metadata, document),
      InvolvedObject(object, document),
      Text("reason", event.reason, document),
      Text("message", event.message, document),
      Text("type", event.type, document),
      Number("count", sent.count, document),
      Text("firstTimestamp", api::FormatRfc3339Seconds(sent.first), document),
      Text("lastTimestamp", api::FormatRfc3339Seconds(sent.last), document),
      {.key = "eventTime"},
      Map("source", source, document),
      Text("reportingComponent", kSource, document),
      Text("reportingInstance", "", document)};
  api::ObjectPtr made;
  ASSIGN_OR_RETURN(made, reader_.Decode(document.MakeObject(members), "event"));
  return server_.Create(made);
}

absl::Status StageEvents::Count(const Sent& sent) {
  const api::ObjectPtr stored =
      server_.FindOther("v1", "Event", absl::StrCat(sent.name_space, "/", sent.name));
  // Someone has deleted it.
  if (stored == nullptr) return absl::OkStatus();
  codec::Document document;
  const std::vector<Member> members = {Number("count", sent.count, document),
                                       Text("lastTimestamp", api::FormatRfc3339Seconds(sent.last), document)};
  return server_.Patch(*stored, codec::PatchType::kMerge, document.MakeObject(members)).status();
}

void StageEvents::EndLater(const std::string& key) {
  loop_.AtInBackground(sent_.at(key).last + kTimeToLive, EventLoop::Phase::kWork, [this, key] { End(key); });
}

void StageEvents::End(const std::string& key) {
  const auto found = sent_.find(key);
  // It came again meanwhile.
  if (found->second.last + kTimeToLive > loop_.Now()) return EndLater(key);
  server_.Delete(api::Kind::kOther, "Event", found->second.name_space, found->second.name).IgnoreError();
  sent_.erase(found);
}

}  // namespace schedsim::sim
