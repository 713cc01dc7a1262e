#include "core/codec/protobuf/proto_reader.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/codec/text/writer.h"
#include "gtest/gtest.h"
#include "protozero/pbf_writer.hpp"

namespace schedsim::codec {
namespace {

using protozero::pbf_writer;

// A stored object of these contents.
std::string Envelope(const std::string& api_version, const std::string& kind, const std::string& object) {
  std::string bytes(kProtoMagic);
  pbf_writer writer(bytes);
  {
    pbf_writer type(writer, 1);
    type.add_string(1, api_version);
    type.add_string(2, kind);
  }
  writer.add_bytes(2, object);
  writer.add_string(3, "");
  writer.add_string(4, "");
  return bytes;
}

std::string ToJsonText(const std::string& bytes) {
  Document document;
  ProtoReader reader;
  const absl::Status status = reader.Read(bytes, document);
  return status.ok() ? ToJson(document.root) : std::string(status.message());
}

std::string NamedPod(const std::string& spec) {
  std::string pod;
  pbf_writer writer(pod);
  {
    pbf_writer metadata(writer, 1);
    metadata.add_string(1, "a");
    metadata.add_string(2, "");
    {
      pbf_writer time(metadata, 8);
      time.add_int64(1, 1577836800);
      time.add_int32(2, 5);
    }
    for (const char* const key : {"tier", "app", "app"}) {
      pbf_writer label(metadata, 11);
      label.add_string(1, key);
      label.add_string(2, std::string(key) + "-value");
    }
    metadata.add_string(999, "a field of a later version");
  }
  writer.add_bytes(2, spec);
  return Envelope("v1", "Pod", pod);
}

// Go writes maps in order. Other writers need not.
TEST(ProtoReaderTest, MapsInAnyOrderTakeNoLonger) {
  constexpr int kCount = 300'000;
  std::string map;
  {
    pbf_writer writer(map);
    pbf_writer metadata(writer, 1);
    metadata.add_string(1, "a");
    for (int i = 2 * kCount - 1; i >= 0; --i) {
      pbf_writer entry(metadata, 11);
      entry.add_string(1, absl::StrCat("key-", absl::Dec(i / 2, absl::kZeroPad8)));
      entry.add_string(2, i % 2 == 0 ? "last" : "first");
    }
  }
  Document document;
  const std::string bytes = Envelope("v1", "ConfigMap", map);
  ProtoReader reader;
  ASSERT_EQ(reader.Read(bytes, document), absl::OkStatus());
  const Value* const labels = document.root.Find("metadata")->Find("labels");
  ASSERT_EQ(labels->members.size(), static_cast<size_t>(kCount));
  EXPECT_EQ(labels->members.front().key, "key-00000000");
  EXPECT_EQ(labels->members.front().value.text, "last");
}

TEST(ProtoReaderTest, LeavesOutWhatIsEmptyAndSortsKeys) {
  EXPECT_EQ(
      ToJsonText(NamedPod("")),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","creationTimestamp":"2020-01-01T00:00:00Z",)"
      R"("labels":{"app":"app-value","tier":"tier-value"}},"spec":{}})");
}

TEST(ProtoReaderTest, WritesEmbeddedStructsOut) {
  std::string spec;
  {
    pbf_writer writer(spec);
    pbf_writer volume(writer, 1);
    volume.add_string(1, "data");
    pbf_writer source(volume, 2);
    pbf_writer claim(source, 10);
    claim.add_string(1, "data-a");
    claim.add_bool(2, false);
  }
  const std::string json = ToJsonText(NamedPod(spec));
  EXPECT_TRUE(absl::StrContains(
      json, R"("volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-a"}}])"))
      << json;
}

TEST(ProtoReaderTest, ReadsMessagesThatAreScalarsInJson) {
  std::string spec;
  {
    pbf_writer writer(spec);
    pbf_writer container(writer, 2);
    container.add_string(1, "c");
    {
      pbf_writer resources(container, 8);
      pbf_writer request(resources, 2);
      request.add_string(1, "cpu");
      pbf_writer quantity(request, 2);
      quantity.add_string(1, "250m");
    }
    pbf_writer probe(container, 10);
    pbf_writer handler(probe, 1);
    pbf_writer get(handler, 2);
    get.add_string(1, "/healthz");
    pbf_writer port(get, 2);
    port.add_int64(1, 1);
    port.add_int64(2, 0);
    port.add_string(3, "http");
  }
  const std::string json = ToJsonText(NamedPod(spec));
  EXPECT_TRUE(absl::StrContains(json, R"("resources":{"requests":{"cpu":"250m"}})")) << json;
  EXPECT_TRUE(absl::StrContains(json, R"("livenessProbe":{"httpGet":{"path":"/healthz","port":"http"}})"))
      << json;
}

TEST(ProtoReaderTest, KeepsWhatAPointerPointsTo) {
  std::string spec;
  pbf_writer writer(spec);
  writer.add_int32(25, 0);
  writer.add_int32(5, -1);
  writer.add_bool(11, false);
  const std::string json = ToJsonText(NamedPod(spec));
  EXPECT_TRUE(absl::StrContains(json, R"("spec":{"priority":0,"activeDeadlineSeconds":-1})")) << json;
}

TEST(ProtoReaderTest, TheLastOfTwoCounts) {
  std::string spec;
  pbf_writer writer(spec);
  writer.add_string(10, "node-1");
  writer.add_string(10, "node-2");
  const std::string json = ToJsonText(NamedPod(spec));
  EXPECT_TRUE(absl::StrContains(json, R"("spec":{"nodeName":"node-2"})")) << json;
}

// What was decoded once is found by its bytes.
TEST(ProtoReaderTest, MapsAndListsHaveTheirBytesAsSource) {
  std::string spec;
  pbf_writer writer(spec);
  for (const char* const key : {"disk", "zone"}) {
    pbf_writer entry(writer, 7);
    entry.add_string(1, key);
    entry.add_string(2, "a");
  }
  const size_t selector_bytes = spec.size();
  writer.add_string(10, "node-1");
  const std::string bytes = NamedPod(spec);
  Document document;
  ASSERT_EQ(ProtoReader().Read(bytes, document), absl::OkStatus());
  const Value* const read = document.root.Find("spec");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->source(), spec);
  ASSERT_NE(read->Find("nodeSelector"), nullptr);
  EXPECT_EQ(read->Find("nodeSelector")->source(), spec.substr(0, selector_bytes));
  EXPECT_EQ(read->Find("nodeName")->text, "node-1");
}

// What stands between two entries would not be part of the source.
TEST(ProtoReaderTest, ScatteredEntriesHaveNoSource) {
  std::string spec;
  pbf_writer writer(spec);
  for (const char* const key : {"disk", "zone"}) {
    {
      pbf_writer entry(writer, 7);
      entry.add_string(1, key);
      entry.add_string(2, "a");
    }
    writer.add_string(10, "node-1");
  }
  const std::string bytes = NamedPod(spec);
  Document document;
  ASSERT_EQ(ProtoReader().Read(bytes, document), absl::OkStatus());
  const Value* const selector = document.root.Find("spec")->Find("nodeSelector");
  ASSERT_NE(selector, nullptr);
  EXPECT_EQ(selector->members.size(), 2u);
  EXPECT_EQ(selector->source(), "");
}

TEST(ProtoReaderTest, SaysWhichFieldIsWrong) {
  std::string spec;
  {
    pbf_writer writer(spec);
    pbf_writer container(writer, 2);
    container.add_int64(1, 7);
  }
  EXPECT_EQ(ToJsonText(NamedPod(spec)), "spec.containers.name: expected bytes, got a number");
  std::string text;
  pbf_writer writer(text);
  writer.add_string(10, "\xff");
  EXPECT_EQ(ToJsonText(NamedPod(text)), "spec.nodeName: a text that is not UTF-8");
}

TEST(ProtoReaderTest, RefusesOtherBytesAndUnknownKinds) {
  EXPECT_TRUE(
      absl::StrContains(ToJsonText(NamedPod("\x12\x7f")), "expected a protobuf message, got other bytes"));
  EXPECT_EQ(ToJsonText(Envelope("example.com/v1", "Widget", "")),
            "the fields of Widget in example.com/v1 are not known");
}

// Bytes that nest messages without an end are no object, and no reason to crash.
TEST(ProtoReaderTest, BoundsTheDepth) {
  std::string inner;
  for (int i = 0; i < 300; ++i) {
    std::string outer;
    pbf_writer writer(outer);
    writer.add_bytes(i % 2 == 0 ? 4 : 1, inner);
    inner = outer;
  }
  // A JSONSchemaProps would nest; of the types with tables none does, so the fields are of other types.
  const std::string text = ToJsonText(NamedPod(inner));
  EXPECT_FALSE(text.empty());
}

}  // namespace
}  // namespace schedsim::codec
