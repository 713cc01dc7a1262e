// API objects from documents.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_OBJECTS_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_OBJECTS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

struct DecodeOptions {
  // Refuse what an API server would refuse (unknown operators, negative quantities, a pod without
  // containers) and take a node's missing allocatable from its capacity, as it would. Without it
  // only wrong types are errors.
  bool validate = true;
  // All values that the reader gets are as they were read from text, and not changed since. Then it decodes
  // parts that are written in the same way once.
  bool by_source = false;
};

class SharedParts;
class TextPool;
struct ReadOptions;
struct RepeatedKey;

// Turns documents into objects. Known kinds (see api::Kind) are decoded by the field tables; a wrong
// type in a field that scheduling reads is an error. Every other kind becomes a plain api::Object
// with its metadata as far as it is well-formed. All keep their whole JSON, which objects of one shape share
// but for what differs. Pods with equal specs share one PodSpec; the reader keeps those alive.
// Errors are InvalidArgument: `file:line:column: path.to[0].field: what, and what was expected (Pod
// default/a)`.
class ObjectReader {
 public:
  // `location` is valid during the call.
  using Sink = absl::FunctionRef<absl::Status(api::ObjectPtr, const Location& location)>;

  // Sees each object before it is decoded, whatever it is, with apiVersion and kind as far as they are there
  // (or follow from the list around it), and each list that is not handed on by its items. An error ends the
  // reading.
  using Inspector = std::function<absl::Status(const Value& value, absl::string_view api_version,
                                               absl::string_view kind, absl::string_view file)>;

  explicit ObjectReader(DecodeOptions options = {});
  ~ObjectReader();
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  void set_inspector(Inspector inspector) { inspector_ = std::move(inspector); }

  // Hears of keys that an object's text has twice, before the inspector sees it: the last value counts then.
  // Without it they are errors.
  using RepeatedKeySink = std::function<void(const Value& document, const RepeatedKey& repeated)>;
  void set_on_repeated_key(RepeatedKeySink sink) { on_repeated_key_ = std::move(sink); }

  // Hands on the objects of a file, of a folder's files, or of standard input ("-"), in order. Lists
  // count as their items; empty documents are skipped. Stops at the first error, also the sink's.
  absl::Status Read(absl::string_view path, Sink sink);

  // The same for text; `file` is for messages and, by its ending, for the format.
  absl::Status ReadText(std::string text, absl::string_view file, Sink sink);

  // Reads documents with these options, and hands on each with the name of its file.
  using DocumentSource = absl::FunctionRef<absl::Status(
      const ReadOptions& options,
      absl::FunctionRef<absl::Status(const Document&, absl::string_view file)> sink)>;
  // The same for documents that `source` reads.
  absl::Status ReadFrom(DocumentSource source, Sink sink);

  // The same for a document or a part of one that is already in memory.
  absl::Status ReadValue(const Value& value, absl::string_view file, Sink sink);

  // One object that is no list.
  absl::StatusOr<api::ObjectPtr> Decode(const Value& value, absl::string_view file);

 private:
  struct ListHeader;
  absl::Status ReadTree(const Value& root, const ListHeader& header, absl::string_view file, Sink sink);
  absl::StatusOr<api::ObjectPtr> DecodeItem(const Value& value, const ListHeader& header,
                                            absl::string_view file);
  absl::StatusOr<api::ObjectPtr> DecodeObject(const Value& value, const ListHeader& header,
                                              absl::string_view file);

  DecodeOptions options_;
  std::unique_ptr<SharedParts> shared_;
  std::unique_ptr<TextPool> texts_;
  Inspector inspector_;              // May be empty.
  RepeatedKeySink on_repeated_key_;  // The same.
};

// Whether a document stands for the objects in its `items`: it is a List, or its kind ends in `List` and it
// has a list of items or is that of a built-in kind. A custom resource may have such a kind without items.
bool IsObjectList(const Value& document);

// `Pod default/web-0` by what a document says of itself, for messages; the name is generateName's where there
// is no other.
std::string ObjectLabel(const Value& document, absl::string_view kind);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_OBJECTS_H_
