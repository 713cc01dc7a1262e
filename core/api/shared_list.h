// Lists that many objects have in common.
#ifndef SCHEDSIM_CORE_API_SHARED_LIST_H_
#define SCHEDSIM_CORE_API_SHARED_LIST_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace schedsim::api {

// A vector whose copies share their items until one of them is changed.
template <typename T>
class SharedList {
 public:
  SharedList() = default;
  // Implicit: a vector may stand wherever such a list is asked for.
  SharedList(std::vector<T> items) {  // NOLINT(google-explicit-constructor)
    if (!items.empty()) items_ = std::make_shared<std::vector<T>>(std::move(items));
  }

  // The list of these items, as `storage` gave them.
  explicit SharedList(std::shared_ptr<std::vector<T>> storage) : items_(std::move(storage)) {}

  const std::vector<T>& items() const {
    static const auto* const kNone = new std::vector<T>();
    return items_ == nullptr ? *kNone : *items_;
  }
  bool empty() const { return items_ == nullptr || items_->empty(); }
  size_t size() const { return items().size(); }
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  const T& operator[](size_t index) const { return items()[index]; }
  const T& front() const { return items().front(); }
  const T& back() const { return items().back(); }

  // The items, to be changed: this list's own from here on.
  std::vector<T>& Mutable() {
    if (items_ == nullptr) {
      items_ = std::make_shared<std::vector<T>>();
    } else if (items_.use_count() > 1) {
      items_ = std::make_shared<std::vector<T>>(*items_);
    }
    return *items_;
  }
  void push_back(T item) { Mutable().push_back(std::move(item)); }
  void clear() { items_ = nullptr; }

  // What lists with the same items share; nullptr for a list that was always empty.
  const std::shared_ptr<std::vector<T>>& storage() const { return items_; }

  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.items_ == b.items_ || a.items() == b.items();
  }

 private:
  std::shared_ptr<std::vector<T>> items_;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_SHARED_LIST_H_
