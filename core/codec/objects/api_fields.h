// The built-in kinds of Kubernetes with all fields that the API server knows, for messages about input that
// it would not take. What decoding reads of them is in the field tables (fields_*.h).
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_API_FIELDS_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_API_FIELDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace schedsim::codec {

// The generated tables, rows that end in `;`. A row of the first is an apiVersion and its kinds, each with
// `:TYPE` where its type has another name; `:` alone: its fields are not known. A row of the second is
// a type and its fields, sorted, each with `:TYPE` where it leads to maps (or lists of maps) of that type,
// and with `:*TYPE` where the maps stand below keys that are free. Between them stands `#` with what protobuf
// makes of the field, see ProtoForm: its number, those of embedded structs in front with dots; `[` for a
// list, `{` for a map, `{[` for a map of lists; `?` or `!` for the presence; and a letter.
extern const char kApiKinds[];
extern const char kApiTypes[];

struct ApiType;

// How a field stands in protobuf, as kube-apiserver stores objects.
struct ProtoForm {
  enum class Letter : uint8_t {
    kNone,  // The field is not in protobuf.
    kMessage,
    kString,
    kBytes,  // Base64 in JSON.
    kInteger,
    kBool,
    // Messages that are scalars in JSON: of seconds and nanoseconds; of a text; of a kind, a number and a
    // text.
    kTime,
    kMicroTime,
    kQuantity,
    kIntOrString,
    kDuration,
    // Messages of the bytes of any JSON.
    kJson,
  };
  enum class Around : uint8_t { kNothing, kList, kMap, kMapOfLists };
  // What JSON leaves out: a value that is empty; nothing that is in protobuf; nothing at all.
  enum class Presence : uint8_t { kIfNotEmpty, kIfThere, kAlways };

  // The numbers on the way to the field, ten bits each from the left: those of the structs that Go embeds,
  // and its own.
  uint32_t path = 0;
  Letter letter = Letter::kNone;
  Around around = Around::kNothing;
  Presence presence = Presence::kIfNotEmpty;

  // `path` with one more number behind it; `depth` numbers stand there already.
  static constexpr int kDepthMax = 3;
  static constexpr int kNumberBits = 10;
  static uint32_t Append(uint32_t path, int depth, uint32_t number) {
    return path | number << (kNumberBits * (kDepthMax - 1 - depth));
  }
};

struct ApiField {
  absl::string_view name;
  const ApiType* type = nullptr;  // nullptr: nothing below the field is checked.
  bool by_key = false;            // Whether keys that are free stand in between.
  ProtoForm proto;
};

struct ApiType {
  std::vector<ApiField> fields;  // By name.
  // By SlotOf a name: the place in `fields` of one such field, which nearly always is the one that is sought.
  std::array<uint8_t, 64> slots = {};

  static size_t SlotOf(absl::string_view name) {
    if (name.empty()) return 0;
    return (name.size() * 7 + static_cast<unsigned char>(name.front()) * 3 +
            static_cast<unsigned char>(name.back())) %
           64;
  }

  // Those that are in protobuf, by path: places in `fields`.
  std::vector<uint8_t> by_path;

  // nullptr: there is none of that name.
  const ApiField* Find(absl::string_view name) const;
  // What a number stands for below the `depth` embedded structs of `path`: a field, or nullptr; then
  // `is_embedded` says whether it is a struct whose fields count as those of this type.
  const ApiField* FindNumber(uint32_t path, int depth, uint32_t number, bool& is_embedded) const;
};

struct ApiKind {
  absl::string_view api_version;
  absl::string_view name;
  const ApiType* type = nullptr;  // nullptr: its fields are not known.
};

// All of it; made once, on first use. Text and pointers live as long as the program.
class ApiFields {
 public:
  static const ApiFields& Get();

  // nullptr: Kubernetes does not serve the kind in that version.
  const ApiKind* Find(absl::string_view api_version, absl::string_view kind) const;

  // In the order of the table: the core group, then groups by name.
  const std::vector<ApiKind>& kinds() const { return kinds_; }

 private:
  ApiFields();
  void ReadKinds();
  void ReadTypes();

  std::vector<ApiKind> kinds_;
  absl::flat_hash_map<absl::string_view, ApiType> types_;
};

// What is wrong with an apiVersion and a kind that Kubernetes does not serve, with the nearest that it does:
// `no kind "Deploymnet" in apps/v1, did you mean Deployment?`. "" where they are fine, and for kinds of
// groups that are not built in, which may be custom resources.
std::string KindProblem(absl::string_view api_version, absl::string_view kind);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_API_FIELDS_H_
