#include "sim/formats/etcd/etcd_snapshot_writer.h"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "protozero/pbf_writer.hpp"
#include "sim/formats/etcd/bolt_writer.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kPrefix = "/registry/";

// Resources that have another name in etcd than in the API.
struct StorageName {
  absl::string_view group;
  absl::string_view plural;
  absl::string_view name;
};
constexpr StorageName kStorageNames[] = {
    {"", "nodes", "minions"},
    {"", "services", "services/specs"},
    {"", "endpoints", "services/endpoints"},
    {"", "replicationcontrollers", "controllers"},
    {"networking.k8s.io", "ingresses", "ingress"},
};

// Of built-in kinds, the groups of two stand in the keys; those of custom resources always do.
bool IsInKey(absl::string_view group, absl::string_view plural) {
  if (group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io") return true;
  return !group.empty() && api::FindKindByResource(group, plural) == nullptr;
}

// Big-endian, so that the order of bytes is that of the numbers.
void AppendBigEndian(uint64_t number, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift & 0xff));
}

std::string RevisionKey(uint64_t main, uint64_t sub) {
  std::string key;
  AppendBigEndian(main, key);
  key.push_back('_');
  AppendBigEndian(sub, key);
  return key;
}

// Source: etcd v3.6, api/mvccpb/kv.proto.
std::string KeyValueOf(const StoredObject& object, uint64_t revision) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_bytes(1, object.key);
  writer.add_int64(2, static_cast<int64_t>(revision));
  writer.add_int64(3, static_cast<int64_t>(revision));
  writer.add_int64(4, 1);
  writer.add_bytes(5, object.json);
  return bytes;
}

std::string Number(uint64_t number) {
  std::string bytes;
  AppendBigEndian(number, bytes);
  return bytes;
}

}  // namespace

std::string EtcdKey(absl::string_view group, absl::string_view plural, absl::string_view name_space,
                    absl::string_view name) {
  absl::string_view resource = plural;
  for (const StorageName& row : kStorageNames) {
    if (row.group == group && row.plural == plural) resource = row.name;
  }
  return absl::StrCat(kPrefix, IsInKey(group, plural) ? absl::StrCat(group, "/") : "", resource, "/",
                      name_space.empty() ? "" : absl::StrCat(name_space, "/"), name);
}

std::string WriteEtcdSnapshot(std::vector<StoredObject> objects) {
  std::stable_sort(objects.begin(), objects.end(),
                   [](const StoredObject& a, const StoredObject& b) { return a.key < b.key; });
  // The first revision that an API server writes.
  constexpr uint64_t kFirst = 2;
  uint64_t last = kFirst - 1;
  for (const StoredObject& object : objects) last = std::max(last, object.resource_version);
  std::vector<std::pair<uint64_t, const StoredObject*>> revisions;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (i + 1 < objects.size() && objects[i + 1].key == objects[i].key) continue;
    const uint64_t known = objects[i].resource_version;
    revisions.emplace_back(known >= kFirst ? known : ++last, &objects[i]);
  }
  std::stable_sort(revisions.begin(), revisions.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  BoltWriter::Entries entries;
  uint64_t sub = 0;
  for (size_t i = 0; i < revisions.size(); ++i) {
    const auto& [revision, object] = revisions[i];
    sub = i > 0 && revisions[i - 1].first == revision ? sub + 1 : 0;
    entries.emplace_back(RevisionKey(revision, sub), KeyValueOf(*object, revision));
  }
  BoltWriter writer;
  for (const absl::string_view empty : {"alarm", "auth", "authRoles", "authUsers"})
    writer.AddBucket(empty, {});
  writer.AddBucket("cluster", {{"clusterVersion", "3.6.0"}});
  writer.AddBucket("key", entries);
  for (const absl::string_view empty : {"lease", "members", "members_removed"}) writer.AddBucket(empty, {});
  writer.AddBucket("meta",
                   {{"consistent_index", Number(1)}, {"storageVersion", "3.6.0"}, {"term", Number(1)}});
  std::string file = writer.Finish();
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int hash_bytes = 0;
  EVP_Digest(file.data(), file.size(), hash, &hash_bytes, EVP_sha256(), nullptr);
  file.append(reinterpret_cast<const char*>(hash), hash_bytes);
  return file;
}

}  // namespace schedsim::sim
