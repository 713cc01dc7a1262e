// API objects as Go's encoding/json writes them: what an extender gets to see of the scheduler's objects.
#ifndef SCHEDSIM_SIM_EXTENDERS_GO_FORM_H_
#define SCHEDSIM_SIM_EXTENDERS_GO_FORM_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// The object as it comes out of Go's struct of this kind, which must be a built-in one: with the fields that
// are always written, without those that are empty and others, quantities and times in one notation, keys in
// order. Parts live in `document`, and in `object`.
codec::Value InGoForm(const codec::Value& object, absl::string_view api_version, absl::string_view kind,
                      codec::Document& document);

// JSON as encoding/json writes it, without blanks; `escapes_html`: <, > and & in strings are escaped.
std::string GoJson(const codec::Value& value, bool escapes_html);
// The same with the keys of all maps in order.
std::string CanonicalGoJson(const codec::Value& value);

// The first 16 hexadecimal digits of the SHA-256 of the object's canonical JSON without
// metadata.resourceVersion.
std::string ObjectDigest(const codec::Value& object);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_GO_FORM_H_
