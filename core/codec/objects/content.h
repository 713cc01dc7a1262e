// The content of typed structs as bytes, driven by the field tables: equal for structs that say the same.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_CONTENT_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_CONTENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/quantity.h"
#include "core/api/shared_list.h"
#include "core/codec/objects/field.h"
#include "core/codec/objects/fields_pod.h"

namespace schedsim::codec {

// Numbers and quantities: all their bytes count.
template <typename T>
requires(std::is_arithmetic_v<T> || std::is_same_v<T, api::Quantity>) void AppendContent(const T& number,
                                                                                         std::string& out) {
  out.append(reinterpret_cast<const char*>(&number), sizeof(number));
}
inline void AppendContent(const std::string& text, std::string& out) {
  AppendContent(text.size(), out);
  out.append(text);
}
inline void AppendContent(const api::StringMap& map, std::string& out);
inline void AppendContent(const api::ResourceList& list, std::string& out);
inline void AppendContent(const api::Volume& volume, std::string& out);
template <typename A, typename B>
void AppendContent(const std::pair<A, B>& entry, std::string& out);
template <typename T>
void AppendContent(const std::optional<T>& member, std::string& out);
template <typename T>
void AppendContent(const std::vector<T>& list, std::string& out);
template <typename T>
void AppendContent(const api::SharedList<T>& list, std::string& out);

template <HasFields T>
void AppendContent(const T& from, std::string& out);

template <HasFields T>
void AppendFields(const T& from, std::string& out) {
  std::apply([&](const auto&... field) { (AppendContent(from.*field.member, out), ...); }, Fields<T>::kList);
}
template <HasFields T>
void AppendContent(const T& from, std::string& out) {
  AppendFields(from, out);
}

template <typename A, typename B>
void AppendContent(const std::pair<A, B>& entry, std::string& out) {
  AppendContent(entry.first, out);
  AppendContent(entry.second, out);
}
template <typename T>
void AppendContent(const std::optional<T>& member, std::string& out) {
  out.push_back(member.has_value() ? '+' : '-');
  if (member.has_value()) AppendContent(*member, out);
}
template <typename T>
void AppendContent(const std::vector<T>& list, std::string& out) {
  AppendContent(list.size(), out);
  for (const T& item : list) AppendContent(item, out);
}
template <typename T>
void AppendContent(const api::SharedList<T>& list, std::string& out) {
  AppendContent(list.items(), out);
}
inline void AppendContent(const api::StringMap& map, std::string& out) { AppendContent(map.entries(), out); }
inline void AppendContent(const api::ResourceList& list, std::string& out) {
  AppendContent(list.size(), out);
  for (const api::ResourceList::Entry& entry : list) AppendContent(entry, out);
}
// The source has no field of its own.
inline void AppendContent(const api::Volume& volume, std::string& out) {
  AppendFields(volume, out);
  AppendContent(volume.source, out);
}

// Whether both say the same.
template <typename T>
bool SameContent(const T& a, const T& b) {
  std::string left;
  std::string right;
  AppendContent(a, left);
  AppendContent(b, right);
  return left == right;
}

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_CONTENT_H_
