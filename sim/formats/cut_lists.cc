#include "sim/formats/cut_lists.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/and_more.h"
#include "core/base/printable.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {
namespace {

absl::string_view TextAt(const codec::Value* map, absl::string_view key) {
  const codec::Value* found = map == nullptr ? nullptr : map->Find(key);
  return found == nullptr ? "" : found->text;
}

bool MayBeCut(absl::string_view text) {
  return absl::StrContains(text, "remainingItemCount") || absl::StrContains(text, "\"continue\"") ||
         absl::StrContains(text, "continue:");
}

}  // namespace

void CutLists::Look(std::string& text, absl::string_view file,
                    const std::map<std::string, int64_t>& item_counts) {
  if (!MayBeCut(text)) {
    for (const auto& [kind, count] : item_counts) lists_[kind].push_back({.item_count = count});
    return;
  }
  const auto take = [&](const codec::Value& list, int64_t item_count) {
    const codec::Value* const metadata = list.Find("metadata");
    const absl::string_view kind = TextAt(&list, "kind");
    List taken = {.item_count = item_count};
    int64_t remaining_count = 0;
    if (absl::SimpleAtoi(TextAt(metadata, "remainingItemCount"), &remaining_count))
      taken.remaining_count = std::max(remaining_count, int64_t{0});
    taken.is_cut = taken.remaining_count > 0 || !TextAt(metadata, "continue").empty();
    taken.place =
        std::string(codec::ErrorAt({file, list.position}, Printable(kind, kShownBytesMax)).message());
    lists_[std::string(kind)].push_back(std::move(taken));
  };
  int64_t entry_count = 0;
  codec::ReadOptions options = {.split_member = "items"};
  options.on_repeated_key = [](const codec::RepeatedKey&) {};
  const absl::Status read = codec::ReadKeptText(text, file, options, [&](const codec::Document& document) {
    // Lists may stand in a list, or in a plain array.
    std::vector<const codec::Value*> roots = {&document.root};
    if (document.root.is_array()) {
      roots.clear();
      for (const codec::Value& item : document.root.items) roots.push_back(&item);
    }
    for (const codec::Value* root : roots) {
      if (!root->is_object() || !codec::IsObjectList(*root)) continue;
      const codec::Value* const items = root->Find("items");
      const bool is_split = items == nullptr || items->items.empty();
      take(*root, is_split ? entry_count : static_cast<int64_t>(items->items.size()));
    }
    entry_count = document.is_entry ? entry_count + 1 : 0;
    return absl::OkStatus();
  });
  // What is wrong with it was said before.
  static_cast<void>(read);
}

std::vector<std::string> CutLists::Warnings() const {
  std::vector<std::string> warnings;
  for (const auto& [kind, lists] : lists_) {
    std::vector<const List*> cut;
    for (const List& list : lists) {
      const bool is_followed = std::any_of(lists.begin(), lists.end(), [&list](const List& next) {
        return &next != &list && list.remaining_count > 0 &&
               next.item_count + next.remaining_count == list.remaining_count;
      });
      if (list.is_cut && !is_followed) cut.push_back(&list);
    }
    if (cut.empty()) continue;
    const bool has_count = cut[0]->remaining_count > 0;
    warnings.push_back(absl::StrCat(
        cut[0]->place, ": ", has_count ? absl::StrCat(cut[0]->remaining_count, " more are") : "more are",
        " not in it (metadata.", has_count ? "remainingItemCount" : "continue",
        "), so they count for nothing; a request without a limit gets all of them, -f adds the rest",
        AndMore(cut.size())));
  }
  return warnings;
}

}  // namespace schedsim::sim
