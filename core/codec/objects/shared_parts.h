// What objects have in common is kept once.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_SHARED_PARTS_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_SHARED_PARTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "core/api/node.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "core/codec/objects/content.h"

namespace schedsim::codec {

// The parts of decoded objects by their content. Objects get the same part for the same content. Specs are
// kept alive, the other parts are not.
class SharedParts {
 public:
  std::shared_ptr<const api::PodSpec> Share(std::shared_ptr<const api::PodSpec> spec) {
    std::shared_ptr<const api::PodSpec>& known = specs_[HashOf(*spec)];
    // Another content with the same hash has the place: this one stays by itself.
    if (known != nullptr) return HasContentOf(*known) ? known : spec;
    known = spec;
    return spec;
  }

  // Lets the list share the items of an equal one.
  template <typename T>
  void Share(api::SharedList<T>& list) {
    if (list.empty()) return;
    std::weak_ptr<std::vector<T>>& known = std::get<Lists<T>>(lists_)[HashOf(list)];
    if (const auto items = known.lock()) {
      if (HasContentOf(*items)) list = api::SharedList<T>(items);
      return;
    }
    known = list.storage();
  }

 private:
  template <typename T>
  using Lists = LookupMap<uint64_t, std::weak_ptr<std::vector<T>>>;

  template <typename T>
  uint64_t HashOf(const T& part) {
    content_.clear();
    AppendContent(part, content_);
    return absl::HashOf(content_);
  }
  // Whether `part` has the content that was hashed last.
  template <typename T>
  bool HasContentOf(const T& part) {
    other_content_.clear();
    AppendContent(part, other_content_);
    return other_content_ == content_;
  }

  LookupMap<uint64_t, std::shared_ptr<const api::PodSpec>> specs_;
  std::tuple<Lists<api::StringMap::Entry>, Lists<api::OwnerReference>, Lists<api::PodCondition>,
             Lists<api::ContainerStatus>, Lists<api::PodResourceClaimStatus>, Lists<api::ContainerImage>,
             Lists<std::string>>
      lists_;
  std::string content_;
  std::string other_content_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_SHARED_PARTS_H_
