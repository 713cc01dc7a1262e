// Objects from the template files that operations name.
#ifndef SCHEDSIM_SIM_BENCH_OBJECT_TEMPLATE_H_
#define SCHEDSIM_SIM_BENCH_OBJECT_TEMPLATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/api/object.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/value.h"
#include "sim/bench/workload_file.h"
#include "sim/templates/go_template.h"

namespace schedsim::sim {

// An object that is the caller's own, to be given a name, a namespace and so on. Only a pod group has JSON.
struct TemplateObject {
  std::shared_ptr<api::Object> object;
  // Of the text, beyond what `object` keeps.
  bool has_status = false;
  bool has_finalizers = false;
  // Whether spec.terminationGracePeriodSeconds is 0: a deleted pod is gone at once.
  bool ends_at_once = false;
};

class ObjectTemplate {
 public:
  // How scheduler_perf reads the file.
  struct Reading {
    // Whether it is a text/template; otherwise it is taken as it is.
    bool is_template = true;
    // Into a Go type: field names may be in any case, and the kind is what the operation says. Otherwise it
    // goes to the API server as it is.
    bool is_typed = true;
    // The Go type's version, where the operation and not the text says it; "": that of the text.
    absl::string_view api_version = "";
  };

  // `reader` must outlive the template: it shares equal specs of pods. Errors: as reading and parsing the
  // file has them.
  static absl::StatusOr<ObjectTemplate> Load(const std::string& path, Reading reading,
                                             codec::ObjectReader& reader);

  // The object for one index of `count`. InvalidArgument, with the place in the text that the template gives:
  // no object, several of them, unknown fields. Unimplemented for what is not simulated: resource claims, and
  // kinds that only serve these.
  absl::StatusOr<TemplateObject> Make(const TemplateParams& params, int64_t index, int64_t count);

  const std::string& path() const { return path_; }

 private:
  ObjectTemplate(std::string path, Reading reading, codec::ObjectReader& reader)
      : path_(std::move(path)), reading_(reading), reader_(&reader) {}

  absl::StatusOr<TemplateObject> Decode(const codec::Value& root);
  // Checks the fields against those that the API server knows; `copy` owns those that got another name.
  absl::StatusOr<codec::Value> CheckFields(const codec::Value& root, codec::Document& copy) const;
  absl::Status CheckSimulated(const api::Object& object, const codec::Value& root) const;

  std::string path_;
  Reading reading_;
  codec::ObjectReader* reader_;
  std::string text_;  // Where it is no template.
  std::optional<GoTemplate> template_;
  // The last one, for texts that say nothing of the index.
  std::optional<TemplateObject> last_;
  const TemplateParams* last_params_ = nullptr;
  int64_t last_count_ = -1;
};

// How the template of objects of any kind, or of pod groups, is read.
ObjectTemplate::Reading ReadingOf(const AnyObjectOp& op);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_OBJECT_TEMPLATE_H_
