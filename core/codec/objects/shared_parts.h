// What objects have in common is kept once.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_SHARED_PARTS_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_SHARED_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "core/api/node.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "core/codec/objects/content.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// The parts of decoded objects by their content. Objects get the same part for the same content. Specs are
// kept alive, the other parts are not, but for those that are found by their source.
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

  // How a value is written: its source, and its column where that matters, else 0.
  using SourceKey = std::pair<std::string, int32_t>;

  // The value is as it was read, and has a source.
  static SourceKey KeyOf(const Value& value) {
    const absl::string_view source = value.source();
    const bool is_bracketed = source[0] == '{' || source[0] == '[';
    return {std::string(source), is_bracketed ? 0 : value.position.column};
  }
  // The part that a value of this key was decoded to, or nullptr. Valid until the next call.
  template <typename T>
  const T* FindBySource(const SourceKey& key) const {
    return std::get<Sources<T>>(sources_).Find(key);
  }
  // What a value of this key is, without an error, for FindBySource.
  template <typename T>
  void Remember(const SourceKey& key, const T& part) {
    source_bytes_ += key.first.size();
    if (source_bytes_ > kSourceBytesMax) {
      std::apply([](auto&... sources) { (sources.Clear(), ...); }, sources_);
      source_bytes_ = key.first.size();
    }
    std::get<Sources<T>>(sources_)[key] = part;
  }

 private:
  // Sources are kept up to so many bytes; then it begins anew.
  static constexpr size_t kSourceBytesMax = 1 << 20;

  template <typename T>
  using Sources = LookupMap<SourceKey, T>;

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
  std::tuple<Sources<std::shared_ptr<const api::PodSpec>>, Sources<api::StringMap>,
             Sources<api::ResourceList>, Sources<api::SharedList<api::OwnerReference>>,
             Sources<api::SharedList<api::PodCondition>>, Sources<api::SharedList<api::ContainerStatus>>,
             Sources<api::SharedList<api::PodResourceClaimStatus>>,
             Sources<api::SharedList<api::ContainerImage>>, Sources<api::SharedList<std::string>>>
      sources_;
  size_t source_bytes_ = 0;  // Of all of them.
  std::string content_;
  std::string other_content_;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_SHARED_PARTS_H_
