// Pods by topology domain, in step with the scheduler's snapshot: many nodes can be asked about, one after
// the other, without going through all pods for each.
#ifndef SCHEDSIM_SIM_EXPLAIN_DOMAIN_PODS_H_
#define SCHEDSIM_SIM_EXPLAIN_DOMAIN_PODS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/symbol.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"

namespace schedsim::sim {

class DomainPods {
 public:
  // Pods that count for one reason.
  struct Group {
    // The label of nodes whose values are the domains; absent: all nodes are one.
    std::optional<Symbol> key;
    std::string text;
  };
  // The node of each, by "namespace/name".
  using Pods = std::map<std::string, Symbol>;
  // The groups that a pod belongs to, each once; it may add some. Valid until the next call.
  using GroupsOf = std::function<const std::vector<size_t>&(const framework::PodInfo& pod)>;

  // `handle` must outlive this.
  explicit DomainPods(framework::Handle& handle) : handle_(handle) {}
  DomainPods(const DomainPods&) = delete;
  DomainPods& operator=(const DomainPods&) = delete;

  // Before all else.
  void set_groups_of(GroupsOf groups_of) { groups_of_ = std::move(groups_of); }
  const std::vector<size_t>& GroupsFor(const framework::PodInfo& pod) const { return groups_of_(pod); }
  // The number of the group, which is new where there is none of this key and text.
  size_t AddGroup(std::optional<Symbol> key, const std::string& text);
  // By number.
  const std::vector<Group>& groups() const { return groups_; }

  // Brings the pods up to date with the snapshot.
  void Update();

  // The group's domain that the node is in; absent: none.
  std::optional<absl::string_view> DomainOf(size_t group, const framework::NodeInfo& node) const;
  // The group's pods there.
  const Pods& In(size_t group, const framework::NodeInfo& node) const;
  // The first domain, by name, that has pods of the group; "": none.
  std::string FirstDomain(size_t group) const;

 private:
  // What a node has.
  struct Part {
    size_t group = 0;
    std::string domain;
    std::string pod;
  };

  void UpdateNode(const framework::NodeInfo& node);

  framework::Handle& handle_;
  GroupsOf groups_of_;
  std::vector<Group> groups_;
  std::vector<std::map<std::string, Pods, std::less<>>> domains_;  // By group, then by the label's value.
  std::vector<std::vector<Part>> parts_;                           // By NodeInfo::index.
  int64_t position_ = -1;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_DOMAIN_PODS_H_
