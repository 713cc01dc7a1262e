#include "sim/formats/etcd/etcd_snapshot.h"

#include <openssl/evp.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/lookup_map.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/protobuf/proto_reader.h"
#include "core/codec/protobuf/wire_reader.h"
#include "sim/formats/etcd/bolt_file.h"

namespace schedsim::sim {
namespace {

using codec::Document;
using codec::Member;
using codec::Value;

// A key of the bucket `key`: a revision, as two numbers of 8 bytes with `_` between them, and `t` behind that
// of a deletion.
constexpr size_t kRevisionBytes = 17;
constexpr char kTombstone = 't';

// How many unreadable objects are named.
constexpr size_t kNamedMax = 3;
constexpr size_t kShownKeyBytesMax = 200;

// etcdctl puts the SHA-256 of the database behind it; pages have a size that is a multiple of this.
constexpr size_t kPageUnit = 512;
constexpr size_t kHashBytes = 32;

// A value with its key, as etcd stores it. The last revision of a key is what is there.
struct KeyValue {
  absl::string_view key;
  absl::string_view value;
  int64_t mod_revision = 0;
};

// False: the bytes are no KeyValue. Source: etcd v3.6, api/mvccpb/kv.proto.
bool ReadKeyValue(absl::string_view bytes, KeyValue& out) {
  const absl::Status status =
      codec::ForEachField(bytes, [&out](uint32_t number, const codec::WireValue& value) {
        if (!value.is_number && number == 1) out.key = value.bytes;
        if (!value.is_number && number == 5) out.value = value.bytes;
        if (value.is_number && number == 3) out.mod_revision = static_cast<int64_t>(value.number);
        return absl::OkStatus();
      });
  return status.ok() && !out.key.empty();
}

absl::Status CheckHash(absl::string_view bytes) {
  const size_t rest = bytes.size() % kPageUnit;
  if (rest == 0) return absl::OkStatus();
  if (rest != kHashBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("offset 0x", absl::Hex(bytes.size()), ": the file ends within a page: it was cut off"));
  }
  const absl::string_view database = bytes.substr(0, bytes.size() - kHashBytes);
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int hash_bytes = 0;
  const int done = EVP_Digest(database.data(), database.size(), hash, &hash_bytes, EVP_sha256(), nullptr);
  const absl::string_view expected = bytes.substr(database.size());
  const absl::string_view got(reinterpret_cast<const char*>(hash), hash_bytes);
  if (done == 1 && expected == got) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "offset 0x", absl::Hex(database.size()),
      ": the SHA-256 at the end of the snapshot is not that of its content: the file was damaged; save "
      "the snapshot anew"));
}

void AddUnreadable(std::string what, EtcdSnapshotNotes& notes) {
  ++notes.unreadable_count;
  if (notes.unreadable.size() < kNamedMax) notes.unreadable.push_back(std::move(what));
}

// The number of a revision: 8 bytes, the highest first.
uint64_t MainRevision(absl::string_view revision) {
  uint64_t number = 0;
  for (const char c : revision.substr(0, 8)) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

// Objects without a name that the API server keeps for itself, below any prefix: ranges of addresses and
// ports, and its own addresses. `kind` is "" of an object that cannot be read. A namespace of a user may be
// called like their folders.
bool IsOfApiServer(absl::string_view key, absl::string_view kind) {
  const std::vector<absl::string_view> parts = absl::StrSplit(key, '/');
  const size_t count = parts.size();
  if (count < 3) return false;
  const absl::string_view folder = parts[count - 2];
  if (folder == "ranges") {
    constexpr absl::string_view kRanges[] = {"secondaryserviceips", "servicenodeports", "serviceips"};
    const bool is_range =
        std::find(std::begin(kRanges), std::end(kRanges), parts.back()) != std::end(kRanges);
    return is_range && (kind.empty() || kind == "RangeAllocation");
  }
  // Those of a namespace are at PREFIX/services/endpoints/NAMESPACE/NAME.
  const bool is_in_namespace = parts[count - 3] == "endpoints";
  return kind == "Endpoints" && !is_in_namespace &&
         (folder == "masterleases" || folder == "peerserverleases");
}

// Which objects were there in the end, by key: a deletion and a later version take an earlier one away.
class LastRevisions {
 public:
  explicit LastRevisions(EtcdSnapshotNotes& notes) : notes_(notes) {}

  absl::Status Add(absl::string_view revision, absl::string_view value) {
    const bool is_tombstone = revision.size() == kRevisionBytes + 1 && revision.back() == kTombstone;
    if (revision.size() != kRevisionBytes && !is_tombstone) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected the key of a revision, of 17 bytes, got one of ", revision.size()));
    }
    KeyValue read;
    if (!ReadKeyValue(value, read)) {
      AddUnreadable(absl::StrCat("revision ", MainRevision(revision),
                                 ": expected a key and its value, got other bytes"),
                    notes_);
      return absl::OkStatus();
    }
    // Revisions come in their order.
    size_t& last = last_[read.key];
    if (last > 0) values_[last - 1].key = "";
    last = 0;
    if (is_tombstone) return absl::OkStatus();
    values_.push_back(read);
    last = values_.size();
    return absl::OkStatus();
  }

  // In the order of the keys.
  std::vector<KeyValue> Take() {
    std::erase_if(values_, [](const KeyValue& value) { return value.key.empty(); });
    std::sort(values_.begin(), values_.end(),
              [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; });
    return std::move(values_);
  }

 private:
  EtcdSnapshotNotes& notes_;
  // In the order of the revisions. One that is no longer there has no key.
  std::vector<KeyValue> values_;
  LookupMap<absl::string_view, size_t> last_;  // One above the place in `values_`; 0: it was deleted.
};

// Sets metadata.resourceVersion, which is not part of the stored value. False: the value has no name, so it
// is no object that kubectl could show.
bool SetResourceVersion(int64_t revision, Document& document) {
  const Value* const metadata = document.root.Find("metadata");
  if (metadata == nullptr || !metadata->is_object()) return false;
  const Value* const name = metadata->Find("name");
  if (name == nullptr || !name->is_string() || name->text.empty()) return false;
  std::vector<Member> inner(metadata->members.begin(), metadata->members.end());
  const auto known = std::find_if(inner.begin(), inner.end(),
                                  [](const Member& member) { return member.key == "resourceVersion"; });
  Member& version = known != inner.end() ? *known : inner.emplace_back();
  version.key = "resourceVersion";
  version.value = document.MakeText(absl::AlphaNum(revision).Piece());
  std::vector<Member> members(document.root.members.begin(), document.root.members.end());
  for (Member& member : members) {
    if (member.key == "metadata") member.value = document.MakeObject(inner);
  }
  document.root = document.MakeObject(members);
  return true;
}

class SnapshotReader {
 public:
  SnapshotReader(codec::DocumentSink sink, EtcdSnapshotNotes& notes) : sink_(sink), notes_(notes) {}

  absl::Status Read(const KeyValue& stored) {
    if (absl::StartsWith(stored.value, codec::kProtoMagic)) {
      document_.Clear();
      const absl::Status status = proto_.Read(stored.value, document_);
      if (absl::IsUnimplemented(status) && IsOfApiServer(stored.key, "")) return absl::OkStatus();
      if (!status.ok()) return Leave(stored, status.message());
      return HandOn(stored, document_);
    }
    if (absl::StartsWith(stored.value, "{")) return ReadJsonValue(stored);
    constexpr absl::string_view kEncrypted = "k8s:enc:";
    if (absl::StartsWith(stored.value, kEncrypted)) {
      const absl::string_view rest = stored.value.substr(kEncrypted.size());
      return Leave(stored,
                   absl::StrCat("it is encrypted (", Printable(rest.substr(0, rest.find(':')), 20), ")"));
    }
    // The API server's own marks are texts below no prefix.
    const bool is_object = absl::StartsWith(stored.key, "/");
    return is_object ? Leave(stored, "expected protobuf or JSON, got something else") : absl::OkStatus();
  }

 private:
  absl::Status ReadJsonValue(const KeyValue& stored) {
    absl::Status handed_on;
    const absl::Status status =
        codec::ReadText(std::string(stored.value), "value.json", {}, [&](const Document& read) {
          Document document;
          document.root = read.root;
          handed_on = HandOn(stored, document);
          return handed_on;
        });
    if (status.ok() || !handed_on.ok()) return handed_on;
    return Leave(stored, absl::StrCat("expected JSON: ", absl::StripPrefix(status.message(), "value.json:")));
  }

  absl::Status HandOn(const KeyValue& stored, Document& document) {
    if (!SetResourceVersion(stored.mod_revision, document)) {
      const Value* const kind = document.root.Find("kind");
      if (kind != nullptr && IsOfApiServer(stored.key, kind->text)) return absl::OkStatus();
      return Leave(stored, "expected an object with metadata.name, got none");
    }
    ++notes_.object_count;
    return sink_(document);
  }

  absl::Status Leave(const KeyValue& stored, absl::string_view why) {
    AddUnreadable(absl::StrCat("key ", Printable(stored.key, kShownKeyBytesMax), " at revision ",
                               stored.mod_revision, ": ", why),
                  notes_);
    return absl::OkStatus();
  }

  codec::DocumentSink sink_;
  EtcdSnapshotNotes& notes_;
  codec::ProtoReader proto_;
  Document document_;  // Of the object that is being read.
};

absl::Status Within(absl::string_view file, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", status.message()));
}

}  // namespace

absl::Status ReadEtcdSnapshot(absl::string_view bytes, absl::string_view file, codec::DocumentSink sink,
                              EtcdSnapshotNotes& notes) {
  RETURN_IF_ERROR(Within(file, CheckHash(bytes)));
  const absl::StatusOr<BoltFile> database = BoltFile::Open(bytes);
  RETURN_IF_ERROR(Within(file, database.status()));
  LastRevisions last(notes);
  const absl::Status read = database->ForEach(
      "key", [&](absl::string_view revision, absl::string_view value) { return last.Add(revision, value); });
  if (absl::IsNotFound(read)) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": expected a database of etcd, got a bbolt file without the bucket `key`"));
  }
  RETURN_IF_ERROR(Within(file, read));
  SnapshotReader reader(sink, notes);
  for (const KeyValue& stored : last.Take()) RETURN_IF_ERROR(reader.Read(stored));
  return absl::OkStatus();
}

}  // namespace schedsim::sim
