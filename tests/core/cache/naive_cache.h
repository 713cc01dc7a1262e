// The scheduler's cache once more, as plainly as it can be said: lists of nodes and pods, counted anew each
// time.
#ifndef SCHEDSIM_TESTS_CORE_CACHE_NAIVE_CACHE_H_
#define SCHEDSIM_TESTS_CORE_CACHE_NAIVE_CACHE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/api/node.h"
#include "core/framework/pod_info.h"

namespace schedsim::cache {

// Nodes by zone, in the order in which they are listed: the first of each zone, then the second, and so on.
class NaiveNodeTree {
 public:
  void AddNode(const api::Node& node);
  void RemoveNode(const api::Node& node);
  std::vector<std::string> List() const;

 private:
  // Zones in order of first appearance, with the names of their nodes in order of addition.
  std::vector<std::pair<std::string, std::vector<std::string>>> zones_;
};

class NaiveCache {
 public:
  struct Pod {
    framework::PodInfoPtr info;
    bool assumed = false;
  };
  // What is expected of one node.
  struct Sums {
    int64_t milli_cpu = 0;
    int64_t memory_bytes = 0;
    int64_t gpus = 0;
    int64_t non_zero_milli_cpu = 0;
    int64_t non_zero_memory_bytes = 0;
    int32_t lowest_priority = INT32_MAX;
    std::vector<std::string> pods;  // Uids, in the order of NodeInfo::pods.
    std::set<std::string> pods_with_affinity;
    std::set<std::string> pods_with_required_anti_affinity;
    std::set<int32_t> ports;

    friend bool operator==(const Sums&, const Sums&) = default;
  };
  struct Image {
    int64_t size_bytes = 0;
    std::set<std::string> nodes;
  };

  // Each returns whether the real one should succeed.
  bool AssumePod(const framework::PodInfoPtr& pod);
  bool ForgetPod(const framework::PodInfo& pod);
  void AddPod(const framework::PodInfoPtr& pod);
  void UpdatePod(const framework::PodInfoPtr& pod);
  void RemovePod(const std::string& uid);
  void AddNode(const api::NodePtr& node);
  void UpdateNode(const api::NodePtr& new_node);
  void RemoveNode(const std::string& name);
  // Returns whether the list is built anew.
  bool UpdateSnapshot();

  // nullptr: there is none.
  const Pod* FindPod(const std::string& uid) const;
  Sums SumsOf(const std::string& node) const;
  const std::map<std::string, api::NodePtr>& nodes() const { return nodes_; }
  const std::map<std::string, Image>& images() const { return images_; }
  const std::vector<std::string>& snapshot() const { return snapshot_; }
  // The nodes that were touched since the last call.
  std::set<std::string> TakeTouched() { return std::exchange(touched_, {}); }

 private:
  void Insert(const framework::PodInfoPtr& pod, bool assumed);
  void AddImages(const api::Node& node);
  void RemoveImages(const api::Node& node);

  std::map<std::string, Pod> pods_;                                // By uid.
  std::map<std::string, std::vector<std::string>> pods_of_nodes_;  // Uids, by the name of the node.
  std::map<std::string, std::set<int32_t>> ports_of_nodes_;
  std::map<std::string, api::NodePtr> nodes_;
  std::map<std::string, Image> images_;
  NaiveNodeTree tree_;
  std::vector<std::string> snapshot_;
  std::set<std::string> touched_;
};

}  // namespace schedsim::cache

#endif  // SCHEDSIM_TESTS_CORE_CACHE_NAIVE_CACHE_H_
