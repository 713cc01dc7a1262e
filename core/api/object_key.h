// The key of an object, for look-ups.
#ifndef SCHEDSIM_CORE_API_OBJECT_KEY_H_
#define SCHEDSIM_CORE_API_OBJECT_KEY_H_

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"
#include "core/api/object.h"

namespace schedsim::api {

// "namespace/name", or "name" where there is no namespace: what Object::Key returns, but without memory of
// its own, since a pod is looked up many times.
class ObjectKey {
 public:
  ObjectKey(absl::string_view name_space, absl::string_view name) {
    const size_t prefix = name_space.empty() ? 0 : name_space.size() + 1;
    size_ = prefix + name.size();
    char* to = short_.data();
    // Kubernetes' own names always fit.
    if (size_ > short_.size()) {
      long_.resize(size_);
      to = &long_[0];
    }
    if (prefix > 0) {
      std::memcpy(to, name_space.data(), name_space.size());
      to[name_space.size()] = '/';
    }
    if (!name.empty()) std::memcpy(to + prefix, name.data(), name.size());
  }
  explicit ObjectKey(const Object& object) : ObjectKey(object.metadata.namespace_, object.metadata.name) {}
  ObjectKey(const ObjectKey&) = delete;
  ObjectKey& operator=(const ObjectKey&) = delete;

  // Valid as long as the key.
  absl::string_view text() const { return {long_.empty() ? short_.data() : long_.data(), size_}; }

 private:
  size_t size_ = 0;
  std::array<char, 320> short_;  // Not initialized, but for the text.
  std::string long_;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_OBJECT_KEY_H_
