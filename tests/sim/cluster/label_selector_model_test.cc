// Selectors in kubectl's notation against a matcher that takes the parts apart by hand, over random labels.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"
#include "sim/cluster/label_selector.h"
#include "tests/random_seeds.h"

namespace schedsim::sim {
namespace {

constexpr uint64_t kSeedCount = 10;
constexpr int kCaseCount = 4000;

// A part of a selector, with what it asks for.
struct Part {
  std::string text;
  std::string key;
  std::vector<std::string> values;
  // Whether the label must be there, with one of the values if there are any; or must not.
  bool wanted = true;

  bool Holds(const api::StringMap& labels) const {
    const std::string* label = labels.Find(key);
    bool found = label != nullptr && values.empty();
    for (const std::string& value : values) found = found || (label != nullptr && *label == value);
    return found == wanted;
  }
};

class LabelSelectorModelTest : public testing::TestWithParam<uint64_t> {
 protected:
  std::string Key() {
    static constexpr const char* kKeys[] = {"app", "tier", "example.com/role", "a.b-c_d"};
    return kKeys[rng_.Below(4)];
  }
  std::string Value() {
    static constexpr const char* kValues[] = {"web", "db", "1", "A-b_c.d", ""};
    return kValues[rng_.Below(5)];
  }
  // Blanks count nowhere.
  std::string Blank() { return rng_.Below(6) == 0 ? " " : ""; }

  Part RandomPart() {
    Part part = {.key = Key()};
    switch (rng_.Below(7)) {
      case 0:
        part.text = part.key;
        break;
      case 3:
      case 4:
        part.wanted = rng_.Below(2) == 0;
        for (int64_t k = 1 + rng_.Below(3); k > 0; --k) part.values.push_back(Value());
        part.text = absl::StrCat(part.key, part.wanted ? " in" : " notin", Blank(), "(", Blank(),
                                 absl::StrJoin(part.values, absl::StrCat(Blank(), ",", Blank())), ")");
        break;
      case 1:
        part.wanted = false;
        part.text = absl::StrCat("!", part.key);
        break;
      case 2:
        part.wanted = false;
        part.values = {Value()};
        part.text = absl::StrCat(part.key, Blank(), "!=", Blank(), part.values[0]);
        break;
      default:
        part.values = {Value()};
        part.text = absl::StrCat(part.key, Blank(), rng_.Below(2) == 0 ? "=" : "==", Blank(), part.values[0]);
    }
    part.text = absl::StrCat(Blank(), part.text, Blank());
    return part;
  }

  Rng rng_{GetParam()};
};

TEST_P(LabelSelectorModelTest, MatchesWhereAllPartsHold) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*LabelSelectorModelTest*"));
  for (int i = 0; i < kCaseCount && !HasFailure(); ++i) {
    std::vector<Part> parts;
    for (int64_t k = rng_.Below(4); k > 0; --k) parts.push_back(RandomPart());
    const std::string text =
        absl::StrJoin(parts, ",", [](std::string* out, const Part& part) { out->append(part.text); });
    const auto selector = LabelSelector::Parse(text);
    ASSERT_TRUE(selector.ok()) << selector.status() << ": \"" << text << "\"";
    for (int k = 0; k < 4; ++k) {
      api::StringMap labels;
      for (int64_t n = rng_.Below(4); n > 0; --n) labels.Set(Key(), Value());
      bool expected = true;
      for (const Part& part : parts) expected = expected && part.Holds(labels);
      EXPECT_EQ(selector->Matches(labels), expected)
          << "\"" << text << "\" on " << absl::StrJoin(labels, ",", absl::PairFormatter("="));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LabelSelectorModelTest, testing::ValuesIn(SeedsToRun(kSeedCount)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace schedsim::sim
