// Objects of an input that make pods on a real cluster, or change their number or their requests, and that
// nothing here acts upon.
#ifndef SCHEDSIM_SIM_FORMATS_UNSIMULATED_CONTROLLERS_H_
#define SCHEDSIM_SIM_FORMATS_UNSIMULATED_CONTROLLERS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// Sees all objects of an input. Custom resources with a pod template are of concern unless an object of the
// input names them as its owner: what their controller made is there then. A HorizontalPodAutoscaler and
// KEDA's ScaledObject are of concern where their target has fewer or more replicas than they allow, a
// VerticalPodAutoscaler where it has a recommendation for the pods of its target.
class UnsimulatedControllers {
 public:
  // What is to be said of an object, and where.
  struct Finding {
    int32_t file_index = 0;  // As in InputWarning.
    codec::Position position;
    std::string text;
  };

  // Looks at an object as it is written, which is no list.
  void LookAtDocument(const codec::Value& document, absl::string_view api_version, absl::string_view kind,
                      int32_t file_index);
  // Looks at it once it is decoded, for its owners.
  void LookAtOwners(const api::Object& object);

  // Custom resources with a pod template that own nothing of the input: "Kind namespace/name" by the same as
  // it is written, most often without the namespace.
  std::map<std::string, std::string> Makers() const;
  // Of each kind the first object that is of concern, with the number of all.
  std::vector<Finding> Findings() const;

 private:
  // A custom resource with a pod template.
  struct Maker {
    std::string key;  // As in owned_by_.
    std::string kind;
    Finding finding;
  };
  struct Autoscaler {
    std::string target;  // As in replicas_.
    int64_t replicas_min = 1;
    int64_t replicas_max = 0;
    // The replicas that the target keeps while it is not in use.
    int64_t idle_replicas = 0;
    // `spec.minReplicas`, without its `min` and `max`.
    std::string field_suffix = "Replicas";
    Finding finding;
  };
  // A VerticalPodAutoscaler that changes pods as they are created.
  struct VerticalAutoscaler {
    std::string target;       // As in replicas_.
    std::string recommended;  // `app: cpu 500m, memory 1Gi`.
    Finding finding;
  };

  void AddAutoscaler(const codec::Value& document, absl::string_view namespace_name, Finding finding);
  void AddScaledObject(const codec::Value& document, absl::string_view namespace_name, Finding finding);
  void AddVerticalAutoscaler(const codec::Value& document, absl::string_view namespace_name, Finding finding);
  void AddMakers(std::vector<Finding>& findings) const;
  void AddAutoscalers(std::vector<Finding>& findings) const;
  void AddVerticalAutoscalers(std::vector<Finding>& findings) const;

  std::vector<Maker> makers_;
  std::vector<Autoscaler> autoscalers_;
  std::vector<VerticalAutoscaler> vertical_autoscalers_;
  std::set<std::string> owned_by_;     // "Kind namespace/name" of the owners that objects name.
  const void* last_owners_ = nullptr;  // The list of the object before.
  // Of workloads, by "Kind namespace/name"; 1 for those without spec.replicas.
  std::map<std::string, int64_t> replicas_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_UNSIMULATED_CONTROLLERS_H_
