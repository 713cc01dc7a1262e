#include "sim/formats/etcd/etcd_snapshot.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"
#include "gtest/gtest.h"
#include "sim/formats/etcd/bolt_writer.h"
#include "sim/formats/etcd/etcd_snapshot_writer.h"

namespace schedsim::sim {
namespace {

// The members that a list of kubectl leaves out.
bool IsHidden(absl::string_view key) { return key == "managedFields"; }

// Compact JSON with sorted keys, without what kubectl hides.
std::string Canonical(const codec::Value& value) {
  if (value.is_array()) {
    std::string out = "[";
    for (const codec::Value& item : value.items) absl::StrAppend(&out, Canonical(item), ",");
    return out + "]";
  }
  if (!value.is_object()) return codec::ToJson(value);
  std::map<std::string, std::string> members;
  for (const codec::Member& member : value.members) {
    if (!IsHidden(member.key)) members[std::string(member.key)] = Canonical(member.value);
  }
  std::string out = "{";
  for (const auto& [key, text] : members) absl::StrAppend(&out, key, ":", text, ",");
  return out + "}";
}

std::string IdOf(const codec::Value& object) {
  const auto text = [](const codec::Value* value) {
    return value == nullptr ? "" : std::string(value->text);
  };
  const codec::Value* metadata = object.Find("metadata");
  return absl::StrCat(text(object.Find("apiVersion")), " ", text(object.Find("kind")), " ",
                      text(metadata->Find("namespace")), "/", text(metadata->Find("name")));
}

using Objects = std::map<std::string, std::string>;

absl::Status Read(absl::string_view bytes, Objects& objects, EtcdSnapshotNotes& notes) {
  return ReadEtcdSnapshot(
      bytes, "etcd.db",
      [&](const codec::Document& document) {
        objects[IdOf(document.root)] = Canonical(document.root);
        return absl::OkStatus();
      },
      notes);
}

constexpr char kRecorded[] = SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real/";

Objects ReadList(const std::string& path) {
  Objects objects;
  const absl::Status status =
      codec::ReadPath(path, {.split_lists = true}, [&](const codec::Document& document, absl::string_view) {
        objects[IdOf(document.root)] = Canonical(document.root);
        return absl::OkStatus();
      });
  EXPECT_EQ(status, absl::OkStatus());
  return objects;
}

class RecordedSnapshotTest : public testing::TestWithParam<const char*> {};

// The database and kubectl's list of one moment have the same objects, field by field.
TEST_P(RecordedSnapshotTest, HasTheObjectsOfKubectl) {
  const std::string folder = absl::StrCat(kRecorded, GetParam(), "/");
  const absl::StatusOr<std::string> bytes = codec::ReadFile(folder + "etcd.db.gz");
  ASSERT_EQ(bytes.status(), absl::OkStatus());
  Objects stored;
  EtcdSnapshotNotes notes;
  ASSERT_EQ(Read(*bytes, stored, notes), absl::OkStatus());
  EXPECT_EQ(notes.unreadable_count, 0) << absl::StrJoin(notes.unreadable, "\n");
  const Objects listed = ReadList(folder + "get.json.gz");
  EXPECT_GT(listed.size(), 20u);
  for (const auto& [id, text] : listed) {
    const auto found = stored.find(id);
    ASSERT_NE(found, stored.end()) << id;
    EXPECT_EQ(found->second, text);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecordedSnapshotTest,
                         testing::Values("formats/1-history", "formats-json/1-history"));

StoredObject ConfigMap(const std::string& name, uint64_t version) {
  return {.key = EtcdKey("", "configmaps", "default", name),
          .json = absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name,
                               R"(","namespace":"default"}})"),
          .resource_version = version};
}

TEST(EtcdSnapshotTest, ReadsWhatWasWritten) {
  Objects objects;
  EtcdSnapshotNotes notes;
  ASSERT_EQ(Read(WriteEtcdSnapshot({ConfigMap("b", 7), ConfigMap("a", 12)}), objects, notes),
            absl::OkStatus());
  EXPECT_EQ(objects.size(), 2u);
  EXPECT_TRUE(absl::StrContains(objects["v1 ConfigMap default/a"], R"(resourceVersion:"12")"));
}

TEST(EtcdSnapshotTest, KnowsWhereTheApiServerKeepsObjects) {
  EXPECT_EQ(EtcdKey("", "nodes", "", "n-1"), "/registry/minions/n-1");
  EXPECT_EQ(EtcdKey("", "services", "default", "web"), "/registry/services/specs/default/web");
  EXPECT_EQ(EtcdKey("apps", "deployments", "default", "web"), "/registry/deployments/default/web");
  EXPECT_EQ(EtcdKey("storage.k8s.io", "storageclasses", "", "fast"), "/registry/storageclasses/fast");
  EXPECT_EQ(EtcdKey("kwok.x-k8s.io", "stages", "", "s"), "/registry/kwok.x-k8s.io/stages/s");
  EXPECT_EQ(EtcdKey("infra.k8s.io", "racks", "", "r"), "/registry/infra.k8s.io/racks/r");
}

// A database with one value below a key of the API server.
std::string WithValue(const std::string& value) {
  return WriteEtcdSnapshot({{.key = "/registry/pods/default/a", .json = value}});
}

TEST(EtcdSnapshotTest, LeavesOutWhatItCannotRead) {
  for (const auto& [value, why] : std::map<std::string, std::string>{
           {"k8s:enc:aescbc:v1:key1:abcdef", "it is encrypted (aescbc)"},
           {"something else", "expected protobuf or JSON, got something else"},
           {"{\"kind\":", "expected JSON"},
           {std::string("k8s\0\x0a\x7f", 6), "expected a protobuf message, got other bytes"},
           {R"({"kind":"Pod","apiVersion":"v1","metadata":{}})", "expected an object with metadata.name"},
       }) {
    Objects objects;
    EtcdSnapshotNotes notes;
    ASSERT_EQ(Read(WithValue(value), objects, notes), absl::OkStatus());
    EXPECT_EQ(notes.unreadable_count, 1);
    ASSERT_EQ(notes.unreadable.size(), 1u);
    EXPECT_TRUE(absl::StartsWith(notes.unreadable[0], "key /registry/pods/default/a at revision 2: "))
        << notes.unreadable[0];
    EXPECT_TRUE(absl::StrContains(notes.unreadable[0], why)) << notes.unreadable[0];
  }
}

// What the API server keeps for itself has no name, and is no loss.
TEST(EtcdSnapshotTest, ObjectsOfTheApiServerAreNotMissed) {
  constexpr char kNameless[] = R"({"kind":"Endpoints","apiVersion":"v1","metadata":{}})";
  constexpr char kRange[] =
      R"({"kind":"RangeAllocation","apiVersion":"v1","metadata":{},"range":"10.0.0.0/8"})";
  Objects objects;
  EtcdSnapshotNotes notes;
  ASSERT_EQ(Read(WriteEtcdSnapshot({{.key = "/registry/masterleases/192.0.2.1", .json = kNameless},
                                    {.key = "/registry/peerserverleases/a", .json = kNameless},
                                    {.key = "/registry/ranges/serviceips", .json = kRange},
                                    {.key = "/any/prefix/ranges/servicenodeports", .json = kRange},
                                    ConfigMap("a", 0)}),
                 objects, notes),
            absl::OkStatus());
  EXPECT_EQ(notes.unreadable_count, 0) << absl::StrJoin(notes.unreadable, "\n");
  EXPECT_EQ(objects.size(), 1u);
}

TEST(EtcdSnapshotTest, ANamespaceMayBeCalledAsAFolderOfTheApiServer) {
  constexpr char kPod[] = R"({"kind":"Pod","apiVersion":"v1","metadata":{}})";
  constexpr char kEndpoints[] = R"({"kind":"Endpoints","apiVersion":"v1","metadata":{}})";
  // The envelope of a kind without known fields.
  const std::string unknown("k8s\0\x0a\x0b\x0a\x02v1\x12\x05Thing", 17);
  Objects objects;
  EtcdSnapshotNotes notes;
  ASSERT_EQ(
      Read(WriteEtcdSnapshot({{.key = "/registry/pods/ranges/a", .json = kPod},
                              {.key = "/registry/pods/ranges/serviceips", .json = kPod},
                              {.key = "/registry/pods/masterleases/a", .json = kPod},
                              {.key = "/registry/services/endpoints/masterleases/a", .json = kEndpoints},
                              {.key = "/registry/things/ranges/a", .json = unknown},
                              {.key = "/registry/ranges/serviceips", .json = unknown}}),
           objects, notes),
      absl::OkStatus());
  EXPECT_EQ(notes.unreadable_count, 5) << absl::StrJoin(notes.unreadable, "\n");
}

// Which object it was is not known, but its revision.
TEST(EtcdSnapshotTest, NamesDamagedPairsByTheirRevision) {
  BoltWriter writer;
  const std::string revision("\0\0\0\0\0\0\1\2_\0\0\0\0\0\0\0\0", 17);
  writer.AddBucket("key", {{revision, "no protobuf"}});
  Objects objects;
  EtcdSnapshotNotes notes;
  ASSERT_EQ(Read(writer.Finish(), objects, notes), absl::OkStatus());
  EXPECT_EQ(notes.unreadable_count, 1);
  EXPECT_EQ(notes.unreadable,
            std::vector<std::string>{"revision 258: expected a key and its value, got other bytes"});
}

TEST(EtcdSnapshotTest, KnowsDamageByTheHash) {
  std::string bytes = WriteEtcdSnapshot({ConfigMap("a", 2)});
  bytes[bytes.size() / 2] ^= 1;
  Objects objects;
  EtcdSnapshotNotes notes;
  const absl::Status status = Read(bytes, objects, notes);
  EXPECT_TRUE(absl::StrContains(status.message(),
                                "the SHA-256 at the end of the snapshot is not that of its content"))
      << status;
  const absl::Status cut_off = Read(absl::string_view(bytes).substr(0, bytes.size() - 5), objects, notes);
  EXPECT_TRUE(absl::StrContains(cut_off.message(), "the file ends within a page: it was cut off")) << cut_off;
}

TEST(EtcdSnapshotTest, ADatabaseOfAnotherProgramIsNone) {
  BoltWriter writer;
  writer.AddBucket("other", {{"a", "b"}});
  Objects objects;
  EtcdSnapshotNotes notes;
  EXPECT_EQ(Read(writer.Finish(), objects, notes).message(),
            "etcd.db: expected a database of etcd, got a bbolt file without the bucket `key`");
}

}  // namespace
}  // namespace schedsim::sim
