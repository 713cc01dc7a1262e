// API objects from documents.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_OBJECTS_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_OBJECTS_H_

#include <memory>
#include <string>

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
};

class SpecPool;

// Turns documents into objects. Known kinds (see api::Kind) are decoded by the field tables; a wrong
// type in a field that scheduling reads is an error. Every other kind becomes a plain api::Object
// with its metadata as far as it is well-formed. All keep their whole JSON. Pods with equal specs
// share one PodSpec; the reader keeps those alive.
// Errors are InvalidArgument: `file:line:column: path.to[0].field: what, and what was expected`.
class ObjectReader {
 public:
  // `location` is valid during the call.
  using Sink = absl::FunctionRef<absl::Status(api::ObjectPtr, const Location& location)>;

  explicit ObjectReader(DecodeOptions options = {});
  ~ObjectReader();
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  // Hands on the objects of a file, of a folder's files, or of standard input ("-"), in order. Lists
  // count as their items; empty documents are skipped. Stops at the first error, also the sink's.
  absl::Status Read(absl::string_view path, Sink sink);

  // The same for text; `file` is for messages and, by its ending, for the format.
  absl::Status ReadText(std::string text, absl::string_view file, Sink sink);

  // The same for a document or a part of one that is already in memory.
  absl::Status ReadValue(const Value& value, absl::string_view file, Sink sink);

  // One object that is no list.
  absl::StatusOr<api::ObjectPtr> Decode(const Value& value, absl::string_view file);

 private:
  struct ListHeader;
  absl::Status ReadDocument(const Document& document, absl::string_view file, Sink sink);
  absl::Status ReadTree(const Value& root, const ListHeader& header, absl::string_view file, Sink sink);
  absl::StatusOr<api::ObjectPtr> DecodeItem(const Value& value, const ListHeader& header,
                                            absl::string_view file);

  DecodeOptions options_;
  std::unique_ptr<SpecPool> specs_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_OBJECTS_H_
