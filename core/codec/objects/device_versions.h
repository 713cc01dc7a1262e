// Older versions of the group resource.k8s.io as v1, which the API server stores.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_DEVICE_VERSIONS_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_DEVICE_VERSIONS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// The object as v1: of v1beta1 the fields of a request stand in `exactly` then, and those of a device's
// `basic` in the device itself; v1beta2 has the shape of v1. What is no claim, template, slice or class of
// these versions comes back as it is. Parts belong to `document` or are those of `value`, with their places.
// InvalidArgument: no release from 1.34 on serves the kind in that version, and its fields are others.
// Source: kubernetes v1.37, pkg/apis/resource/v1beta1/conversion.go and defaults.go.
absl::StatusOr<Value> AsStoredDevices(const Value& value, absl::string_view api_version,
                                      absl::string_view kind, absl::string_view file, Document& document);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_DEVICE_VERSIONS_H_
