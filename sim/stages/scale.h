// Objects from a template and parameters, as `kwokctl scale` makes them.
#ifndef SCHEDSIM_SIM_STAGES_SCALE_H_
#define SCHEDSIM_SIM_STAGES_SCALE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/base/clock.h"
#include "core/codec/text/value.h"
#include "sim/cluster/api_server.h"
#include "sim/templates/go_template.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {

// The label by which a set of objects is found again; its value is the set's name.
inline constexpr char kScaleLabel[] = "kwok.x-k8s.io/kwokctl-scale";

// A KwokctlResource. Source: kwok v0.8.0, pkg/kwokctl/scale/scale.go.
struct ScaleResource {
  std::string name;
  GoValue parameters;
  GoTemplate text;
};

// `document` is of kind KwokctlResource. InvalidArgument, `file:line:column: path.to.field: what`.
absl::StatusOr<ScaleResource> ReadScaleResource(const codec::Value& document, absl::string_view file);

// The resource `name` of a file, or the one that is built in: node or pod. `path`: "" for no file.
// NotFound, with the names that there are.
absl::StatusOr<ScaleResource> FindScaleResource(absl::string_view name, const std::string& path);

// What is asked of a resource: the arguments of `kwokctl scale`.
struct ScaleRequest {
  // Of the set, from which the objects get theirs; "": that of the resource.
  std::string name;
  std::string name_space;  // "": what the template gives.
  int64_t replicas = 1;
  // Digits of an object's number; 0: the one object has none.
  int64_t serial_length = 6;
  // Programs of jq that change the parameters, one after the other.
  std::vector<std::string> params;
};

// Makes the objects of one request.
class Scaler {
 public:
  // InvalidArgument for numbers that don't fit, and for parameters that are no program or give no value, or
  // several.
  static absl::StatusOr<Scaler> Make(ScaleResource resource, const ScaleRequest& request);

  // The object with this number, as a whole; what `clock` says is now. InvalidArgument where the template
  // fails, or gives no object.
  absl::StatusOr<std::shared_ptr<codec::Document>> Object(int64_t serial, const Clock& clock) const;

  const ScaleRequest& request() const { return request_; }
  // "node-000007".
  std::string NameOf(int64_t serial) const;

 private:
  Scaler(ScaleResource resource, ScaleRequest request)
      : resource_(std::move(resource)), request_(std::move(request)) {}

  ScaleResource resource_;
  ScaleRequest request_;
};

// What brings the set of a scaler to its size.
struct ScaleChange {
  // In the order of their numbers, without those whose names are taken.
  std::vector<api::ObjectPtr> create;
  // The youngest ones; where these are, `create` is empty.
  std::vector<api::ObjectPtr> remove;
};

// Looks at the objects of the set that `server` has. Errors: as Scaler::Object, and those of decoding.
absl::StatusOr<ScaleChange> ChangeToScale(const Scaler& scaler, const ApiServer& server, const Clock& clock);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_SCALE_H_
