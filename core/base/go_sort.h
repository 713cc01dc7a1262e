// Sorting with Go's order among elements that are neither before the other.
#ifndef SCHEDSIM_CORE_BASE_GO_SORT_H_
#define SCHEDSIM_CORE_BASE_GO_SORT_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace schedsim {

// A pattern-defeating quicksort that makes the same comparisons and exchanges as Go's sort.Slice and
// slices.SortFunc, so that equal elements end up where they do there: kube-scheduler lets that decide.
// Source: Go 1.26, sort/zsortfunc.go.
template <typename T, typename Less>
class GoSorter {
 public:
  GoSorter(std::vector<T>& items, Less less) : items_(items), less_(std::move(less)) {}

  void Sort() { Sort(0, Size(items_.size()), std::bit_width(items_.size())); }

 private:
  using Size = int64_t;  // Indices go below zero.

  static constexpr Size kInsertionMax = 12;
  static constexpr Size kNintherMin = 50;
  static constexpr Size kShiftMin = 50;

  enum class Hint : uint8_t { kUnknown, kIncreasing, kDecreasing };
  struct Pivot {
    Size at = 0;
    Hint hint = Hint::kUnknown;
  };
  struct Partition {
    Size pivot = 0;
    bool was_done = false;
  };

  T& At(Size i) { return items_[static_cast<size_t>(i)]; }
  bool Before(Size i, Size j) { return less_(At(i), At(j)); }
  void Swap(Size i, Size j) { std::swap(At(i), At(j)); }

  // Sorts [begin, end). `bad_max`: how many bad pivots are left until heapsort takes over.
  void Sort(Size begin, Size end, Size bad_max) {
    bool balanced = true;
    bool was_done = true;
    while (end - begin > kInsertionMax) {
      if (bad_max == 0) return HeapSort(begin, end);
      if (!balanced) {
        BreakPattern(begin, end);
        --bad_max;
      }
      Pivot pivot = ChoosePivot(begin, end);
      if (pivot.hint == Hint::kDecreasing) {
        for (Size i = begin, j = end - 1; i < j; ++i, --j) Swap(i, j);
        pivot = {.at = end - 1 - (pivot.at - begin), .hint = Hint::kIncreasing};
      }
      if (balanced && was_done && pivot.hint == Hint::kIncreasing && FinishNearlySorted(begin, end)) return;
      if (begin > 0 && !Before(begin - 1, pivot.at)) {
        // What is not after the pivot equals it, and is in its place.
        begin = PartitionEqual(begin, end, pivot.at);
        continue;
      }
      const Size length = end - begin;
      const Partition partition = PartitionAt(begin, end, pivot.at);
      const Size left = partition.pivot - begin;
      const Size right = end - partition.pivot;
      was_done = partition.was_done;
      balanced = std::min(left, right) >= length / 8;
      if (left < right) {
        Sort(begin, partition.pivot, bad_max);
        begin = partition.pivot + 1;
      } else {
        Sort(partition.pivot + 1, end, bad_max);
        end = partition.pivot;
      }
    }
    for (Size i = begin + 1; i < end; ++i) SinkLeft(i, begin);
  }

  // Moves an element to the left, not beyond `begin`, while it comes before its neighbour.
  void SinkLeft(Size i, Size begin) {
    for (; i > begin && Before(i, i - 1); --i) Swap(i, i - 1);
  }

  void HeapSort(Size begin, Size end) {
    const Size length = end - begin;
    for (Size root = (length - 1) / 2; root >= 0; --root) SiftDown(begin, root, length);
    for (Size last = length - 1; last >= 0; --last) {
      Swap(begin, begin + last);
      SiftDown(begin, 0, last);
    }
  }
  void SiftDown(Size begin, Size root, Size length) {
    for (Size child = 2 * root + 1; child < length; child = 2 * root + 1) {
      if (child + 1 < length && Before(begin + child, begin + child + 1)) ++child;
      if (!Before(begin + root, begin + child)) return;
      Swap(begin + root, begin + child);
      root = child;
    }
  }

  // Scatters three elements around the middle; "random" by the length alone.
  void BreakPattern(Size begin, Size end) {
    const Size length = end - begin;
    uint64_t random = static_cast<uint64_t>(length);
    const uint64_t mask = (uint64_t{1} << std::bit_width(random)) - 1;
    const Size middle = begin + length / 4 * 2;
    for (Size i = -1; i <= 1; ++i) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      Size other = static_cast<Size>(random & mask);
      if (other >= length) other -= length;
      Swap(middle + i, begin + other);
    }
  }

  // The median of three elements, or of three such medians.
  Pivot ChoosePivot(Size begin, Size end) {
    const Size quarter = (end - begin) / 4;
    constexpr int kSwapsMax = 4 * 3;
    int swaps = 0;
    Size at[] = {begin + quarter, begin + 2 * quarter, begin + 3 * quarter};
    if (end - begin >= kNintherMin) {
      for (Size& i : at) i = Median(i - 1, i, i + 1, swaps);
    }
    const Size median = Median(at[0], at[1], at[2], swaps);
    if (swaps == 0) return {.at = median, .hint = Hint::kIncreasing};
    return {.at = median, .hint = swaps == kSwapsMax ? Hint::kDecreasing : Hint::kUnknown};
  }
  Size Median(Size a, Size b, Size c, int& swaps) {
    Order(a, b, swaps);
    Order(b, c, swaps);
    Order(a, b, swaps);
    return b;
  }
  void Order(Size& a, Size& b, int& swaps) {
    if (!Before(b, a)) return;
    std::swap(a, b);
    ++swaps;
  }

  // Puts up to five elements right. Returns whether all are in order now.
  bool FinishNearlySorted(Size begin, Size end) {
    constexpr int kStepsMax = 5;
    Size i = begin + 1;
    for (int step = 0; step < kStepsMax; ++step) {
      while (i < end && !Before(i, i - 1)) ++i;
      if (i == end) return true;
      if (end - begin < kShiftMin) return false;
      Swap(i, i - 1);
      // As upstream, down to the start of all elements, not of the range.
      if (i - begin >= 2) SinkLeft(i - 1, 0);
      if (end - i < 2) continue;
      for (Size j = i + 1; j < end && Before(j, j - 1); ++j) Swap(j, j - 1);
    }
    return false;
  }

  // What is before the pivot goes to its left.
  Partition PartitionAt(Size begin, Size end, Size pivot) {
    Swap(begin, pivot);
    Size i = begin + 1;
    Size j = end - 1;
    bool was_done = true;
    while (true) {
      while (i <= j && Before(i, begin)) ++i;
      while (i <= j && !Before(j, begin)) --j;
      if (i > j) break;
      Swap(i++, j--);
      was_done = false;
    }
    Swap(j, begin);
    return {.pivot = j, .was_done = was_done};
  }
  // What equals the pivot goes to the left; returns where the rest begins.
  Size PartitionEqual(Size begin, Size end, Size pivot) {
    Swap(begin, pivot);
    Size i = begin + 1;
    Size j = end - 1;
    while (true) {
      while (i <= j && !Before(begin, i)) ++i;
      while (i <= j && Before(begin, j)) --j;
      if (i > j) return i;
      Swap(i++, j--);
    }
  }

  std::vector<T>& items_;
  Less less_;
};

template <typename T, typename Less>
void GoSort(std::vector<T>& items, Less less) {
  GoSorter<T, Less>(items, std::move(less)).Sort();
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_GO_SORT_H_
