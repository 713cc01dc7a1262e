// The fast forms in core/base beside the plain ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/object.h"
#include "core/api/object_key.h"
#include "core/base/digest.h"
#include "core/base/highest_key.h"
#include "core/base/list_loops.h"
#include "core/base/rng.h"
#include "core/base/sorted_map.h"
#include "core/base/text_hash.h"

namespace schedsim {
namespace {

TEST(HighestKey, IsTheHighestAtEachLength) {
  Rng rng(17);
  for (size_t count = 1; count < 70; ++count) {
    std::vector<int64_t> numbers;
    std::vector<int64_t> ties;
    std::vector<int64_t> keys;
    for (size_t i = 0; i < count; ++i) {
      // Few different numbers, so that many are equal; a negative weight makes negative ones.
      numbers.push_back(rng.Below(4) - 2);
      ties.push_back(rng.Below(128));
      keys.push_back(numbers.back() * 128 + ties.back());
    }
    ties.push_back(127);
    EXPECT_EQ(HighestKey(numbers, ties, 7), *std::max_element(keys.begin(), keys.end())) << count;
  }
}

// FNV-1a, byte by byte.
uint64_t PlainDigest(const std::vector<int64_t>& numbers) {
  uint64_t value = 0xcbf29ce484222325ULL;
  for (int64_t number : numbers) {
    for (int shift = 0; shift < 64; shift += 8) {
      value = (value ^ ((static_cast<uint64_t>(number) >> shift) & 0xff)) * 0x100000001b3ULL;
    }
  }
  return value;
}

TEST(Digest, OfNumbersIsThatOfTheirBytes) {
  const std::vector<int64_t> numbers = {0, 1, 255, 256, -1, INT64_MIN, INT64_MAX, 1'000'000'007, 0};
  Digest digest;
  for (int64_t number : numbers) digest.Add(number);
  EXPECT_EQ(digest.value(), PlainDigest(numbers));
}

TEST(TextHash, TellsTextsApartAtEachLength) {
  std::set<size_t> hashes;
  std::string text;
  size_t count = 0;
  for (size_t length = 0; length < 50; ++length, text += 'a') {
    EXPECT_EQ(TextHash()(text), TextHash()(std::string(text))) << length;
    hashes.insert(TextHash()(text));
    ++count;
    for (size_t i = 0; i < length; ++i, ++count) {
      std::string other = text;
      other[i] = 'b';
      hashes.insert(TextHash()(other));
    }
  }
  EXPECT_EQ(hashes.size(), count);
}

TEST(SortedMap, HasWhatWasSetLastInAnyOrder) {
  Rng rng(17);
  std::map<std::string, int64_t> map;
  std::map<std::string, int64_t> plain;
  for (int64_t i = 0; i < 500; ++i) {
    // Rising most often, as names are, and some keys again.
    const std::string key =
        absl::StrCat("node-", absl::Dec(rng.Below(4) == 0 ? rng.Below(500) : i, absl::kZeroPad4));
    EXPECT_EQ(IsBehindAll(map, absl::string_view(key)), plain.lower_bound(key) == plain.end()) << key;
    SetValue(map, key, i);
    plain[key] = i;
    ASSERT_EQ(map, plain) << key;
  }
}

TEST(ObjectKey, IsTheKeyOfTheObject) {
  for (const size_t length : {0, 1, 63, 253, 319, 320, 321, 1000}) {
    for (const char* name_space : {"", "default"}) {
      api::Object object;
      object.metadata.namespace_ = name_space;
      object.metadata.name = std::string(length, 'x');
      EXPECT_EQ(api::ObjectKey(object).text(), object.Key()) << length;
    }
  }
}

TEST(CountEqual, CountsInListsOfAnyLength) {
  std::vector<int32_t> numbers;
  size_t expected = 0;
  for (int32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(CountEqual(numbers, -1), expected) << i;
    numbers.push_back(i % 3 == 0 ? -1 : i);
    expected += i % 3 == 0 ? 1 : 0;
  }
}

TEST(FindUnequal, FindsThemInListsOfAnyLength) {
  for (size_t length = 0; length < 70; ++length) {
    std::vector<int32_t> numbers(length, -1);
    std::vector<size_t> expected;
    for (size_t i = length % 5; i < length; i += 1 + length % 23) {
      numbers[i] = static_cast<int32_t>(i);
      expected.push_back(i);
    }
    std::vector<size_t> places(expected.size());
    FindUnequal(numbers, -1, absl::MakeSpan(places));
    EXPECT_EQ(places, expected) << length;
  }
}

TEST(IsRising, FindsAFallAtEachPlace) {
  EXPECT_TRUE(IsRising({}));
  std::vector<int32_t> numbers(70);
  std::iota(numbers.begin(), numbers.end(), -5);
  EXPECT_TRUE(IsRising(numbers));
  for (size_t i = 1; i < numbers.size(); ++i) {
    std::vector<int32_t> falls = numbers;
    falls[i] = falls[i - 1];
    EXPECT_FALSE(IsRising(falls)) << i;
  }
}

}  // namespace
}  // namespace schedsim
