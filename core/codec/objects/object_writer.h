// JSON and YAML text from objects.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_OBJECT_WRITER_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_OBJECT_WRITER_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "core/api/object.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// The whole object as compact JSON. With `object.json`: that text, byte for byte, unless fields that
// a simulation changes (see Field::live) differ from it; those are put on top, and everything
// else stays: conditions, for example, keep the fields that scheduling does not read. Without
// `object.json`: all typed fields that are set.
std::string ObjectJson(const api::Object& object);

// Calls `visit` with what ObjectJson writes, as a tree that is valid during the call.
void VisitObjectTree(const api::Object& object, absl::FunctionRef<void(const Value& root)> visit);

// The same as the API server hands it out: with its namespace, also where the text of the input leaves it to
// the default.
std::string ServedJson(const api::Object& object);

// The same as YAML.
std::string ObjectYaml(const api::Object& object);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_OBJECT_WRITER_H_
