#include "core/codec/protobuf/proto_writer.h"

#include <string>

#include "core/codec/protobuf/proto_reader.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace schedsim::codec {
namespace {

// The object after it was written and read again: what the two agree on. The fields may come in another
// order.
nlohmann::json ThereAndBack(absl::string_view api_version, absl::string_view kind, const std::string& json) {
  const ApiKind* const known = ApiFields::Get().Find(api_version, kind);
  std::string stored(kProtoMagic);
  const absl::Status read = ReadText(json, "object.json", {}, [&](const Document& document) {
    std::string type;
    AppendProtoBytes(1, api_version, type);
    AppendProtoBytes(2, kind, type);
    AppendProtoBytes(1, type, stored);
    AppendProtoBytes(2, WriteProto(document.root, *known->type), stored);
    return absl::OkStatus();
  });
  if (!read.ok()) return read.ToString();
  Document document;
  ProtoReader reader;
  const absl::Status status = reader.Read(stored, document);
  if (!status.ok()) return status.ToString();
  return nlohmann::json::parse(ToJson(document.root));
}

TEST(ProtoWriterTest, WhatItWritesCanBeRead) {
  const std::string pod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b","uid":"c",)"
      R"("creationTimestamp":"2020-01-01T00:00:00Z","labels":{"app":"web","tier":"x"}},)"
      R"("spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}],)"
      R"("containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"protocol":"TCP"}],)"
      R"("resources":{"requests":{"cpu":"500m"}},"livenessProbe":{"httpGet":{"path":"/","port":"web"},)"
      R"("initialDelaySeconds":-3}}],"hostNetwork":true,)"
      R"("priority":7,"overhead":{"cpu":"1"}},"status":{"phase":"Pending"}})";
  EXPECT_EQ(ThereAndBack("v1", "Pod", pod), nlohmann::json::parse(pod));
}

TEST(ProtoWriterTest, LeavesOutWhatIsEmptyOrUnknown) {
  EXPECT_EQ(
      ThereAndBack(
          "v1", "Node",
          R"({"metadata":{"name":"","generation":0,"labels":null},)"
          R"("spec":{"unschedulable":false,"mine":1},"status":{"images":[{"names":["a"],"sizeBytes":5}]}})"),
      nlohmann::json::parse(R"({"apiVersion":"v1","kind":"Node","metadata":{},"spec":{},)"
                            R"("status":{"images":[{"names":["a"],"sizeBytes":5}]}})"));
}

}  // namespace
}  // namespace schedsim::codec
