// Lists of objects that say themselves that they were cut off.
#ifndef SCHEDSIM_SIM_FORMATS_CUT_LISTS_H_
#define SCHEDSIM_SIM_FORMATS_CUT_LISTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::sim {

// An API server that is asked for a list with a limit says in the list's metadata that there is more. The
// metadata is no part of what is handed on of a list, so a text that may have such metadata is read again.
class CutLists {
 public:
  // Looks at a text that was read without an error, with the number of the objects in its lists, by the kinds
  // of these.
  void Look(std::string& text, absl::string_view file, const std::map<std::string, int64_t>& item_counts);

  // One for each kind of list, in the order of the kinds, but for lists whose rest is there as another one.
  std::vector<std::string> Warnings() const;

 private:
  struct List {
    std::string place;  // `file:line:column: PodList`; "" where it does not matter.
    int64_t item_count = 0;
    bool is_cut = false;
    int64_t remaining_count = 0;  // 0: it does not say it.
  };

  std::map<std::string, std::vector<List>> lists_;  // By kind.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_CUT_LISTS_H_
