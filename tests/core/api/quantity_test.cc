#include "core/api/quantity.h"
#include "core/api/quantity_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace schedsim::api {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

struct GoodRow {
  const char* text;
  int64_t value;
  int64_t milli;
};

// Expected numbers are what Kubernetes' resource.Quantity gives for Value() and MilliValue().
constexpr GoodRow kGood[] = {
    {"0", 0, 0},
    {"-0", 0, 0},
    {"00", 0, 0},
    {"1", 1, 1000},
    {"+1", 1, 1000},
    {"-1", -1, -1000},
    {"007", 7, 7000},
    {"100m", 1, 100},
    {"1500m", 2, 1500},
    {"-1500m", -2, -1500},
    {"0.1", 1, 100},
    {".5", 1, 500},
    {"5.", 5, 5000},
    {"1.5Gi", 1610612736, 1610612736000},
    {"0.5Ki", 512, 512000},
    {"0.0005Ki", 1, 512},
    {"1Ki", 1024, 1024000},
    {"1Mi", 1048576, 1048576000},
    {"1Ti", 1099511627776, 1099511627776000},
    {"1Pi", 1125899906842624, 1125899906842624000},
    {"1Ei", 1152921504606846976, kMin},
    {"1k", 1000, 1000000},
    {"1M", 1000000, 1000000000},
    {"1G", 1000000000, 1000000000000},
    {"1T", 1000000000000, 1000000000000000},
    {"1P", 1000000000000000, 1000000000000000000},
    {"1e3", 1000, 1000000},
    {"1E3", 1000, 1000000},
    {"1e+3", 1000, 1000000},
    {"12e-3", 1, 12},
    {"1.25e1", 13, 12500},
    {"5u", 1, 1},
    {"5000u", 1, 5},
    {"1n", 1, 1},
    {"1000000n", 1, 1},
    {"1000001n", 1, 2},
    {"0.0000000001", 1, 1},
    {"1.0000000000001", 2, 1001},
    {"9223372036854775807", kMax, -1000},
    {"9223372036854776", 9223372036854776, -9223372036854775616},
    {"9223372036854775", 9223372036854775, 9223372036854775000},
    {"9Pi", 10133099161583616, -8313644912125935616},
    {"9223372036854775m", 9223372036855, 9223372036854775},
    {"7.999Ei", 9222219115350168962, -1152921504606846976},
    {"0.000000000000000000000000000000000000000001", 1, 1},
    {"1e-400", 1, 1},
};

TEST(QuantityTest, ParsesAsKubernetesDoes) {
  for (const GoodRow& row : kGood) {
    const auto quantity = Quantity::Parse(row.text);
    ASSERT_TRUE(quantity.ok()) << row.text << ": " << quantity.status();
    EXPECT_EQ(quantity->Value(), row.value) << row.text;
    EXPECT_EQ(quantity->MilliValue(), row.milli) << row.text;
  }
}

// The real one loses what overflows while it applies a large suffix. Here the amount counts and not its text,
// as if the API server had written it: "10000000000M" is "10P".
TEST(QuantityTest, LosesThousandthsThatOverflowALargeSuffix) {
  for (const char* text : {"1E", "1e18", "10P", "10000000000M", "9300T", "9300000000000k"}) {
    EXPECT_EQ(Quantity::Parse(text)->MilliValue(), 0) << text;
  }
  EXPECT_EQ(Quantity::Parse("9223372036854776M").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Quantity::Parse("9223372036855k")->MilliValue(), -9223372036854551616);
}

TEST(QuantityTest, SumsWrapAroundWhereKubernetesDoes) {
  const Quantity quarter = *Quantity::Parse("4611686018427387904");
  const Quantity half = quarter + quarter;
  EXPECT_EQ(half.Value(), kMin);
  EXPECT_EQ(half.MilliValue(), 0);
  EXPECT_EQ((half + half).Value(), 0);
  EXPECT_GT(half + half, half) << "the amount itself is exact";
  EXPECT_EQ((*Quantity::Parse("5E") + *Quantity::Parse("5E")).Value(), 0);
}

TEST(QuantityTest, RefusesMalformedText) {
  for (const char* text : {"",      " ",     "+",    "-",    ".",      "abc",     "1 ",  " 1",    "1.2.3",
                           "1ki",   "1KI",   "1K",   "1mi",  "1Gb",    "1e",      "1e+", "1e1.5", "1E3k",
                           "1i",    "--1",   "+-1",  "0x10", "1_000",  "1,5",     "1kk", "1.1.M", "1+1.0M",
                           "0.1mi", "0.1am", "aoeu", ".5i",  "-3.01i", "-3.01e-", "1\n"}) {
    const auto quantity = Quantity::Parse(text);
    ASSERT_FALSE(quantity.ok()) << "\"" << text << "\"";
    EXPECT_NE(quantity.status().message().find("expected"), std::string::npos) << quantity.status();
  }
}

TEST(QuantityTest, RefusesWhatIsOutOfRange) {
  for (const char* text : {"9223372036854775808", "-9223372036854775808", "8Ei", "10E", "1e19", "1e400",
                           "-1e400", "1e99999999999999999999", "99999999999999999999999999999999999999999999",
                           "9223372036854775807001m"}) {
    EXPECT_FALSE(Quantity::Parse(text).ok()) << text;
  }
}

TEST(QuantityTest, EqualAmountsAreEqualWhateverTheNotation) {
  EXPECT_EQ(*Quantity::Parse("1000m"), *Quantity::Parse("1"));
  EXPECT_EQ(*Quantity::Parse("1.5Gi"), *Quantity::Parse("1536Mi"));
  EXPECT_EQ(*Quantity::Parse("0.0000000001"), *Quantity::Parse("1n"));
  EXPECT_LT(*Quantity::Parse("999m"), *Quantity::Parse("1"));
  EXPECT_LT(*Quantity::Parse("-1"), *Quantity::Parse("0"));
}

TEST(QuantityTest, SumsAreExact) {
  EXPECT_EQ((*Quantity::Parse("0.1") + *Quantity::Parse("0.2")), *Quantity::Parse("300m"));
  EXPECT_EQ((*Quantity::Parse("1") - *Quantity::Parse("1n")).MilliValue(), 1000);
  EXPECT_TRUE((*Quantity::Parse("1Gi") - *Quantity::Parse("1024Mi")).IsZero());
}

TEST(QuantityTest, IsWrittenExactly) {
  for (const char* text :
       {"0", "1", "250m", "-5", "1073741824", "0.000000001", "1.000000001", "-2.5e-7", "123456.000000007",
        "9223372036854775806.000000007", "9223372036854775807", "0.999999999"}) {
    const Quantity quantity = *Quantity::Parse(text);
    EXPECT_EQ(*Quantity::Parse(QuantityText(quantity)), quantity) << text << " " << QuantityText(quantity);
  }
}

TEST(QuantityTest, IsWrittenInItsLargestUnit) {
  const auto text = [](absl::string_view of) { return QuantityText(*Quantity::Parse(of)); };
  EXPECT_EQ(text("1.5"), "1500m");
  EXPECT_EQ(text("0.0015"), "1500u");
  EXPECT_EQ(text("-0.000000001"), "-1n");
  EXPECT_EQ(text("1.000000001"), "1000000001n");
  EXPECT_EQ(text("9223372036854775806.000000007"), "9223372036854775806000000007n");
  EXPECT_EQ(text("1Gi"), "1073741824");
  EXPECT_EQ(text("2000e3"), "2M");
  EXPECT_EQ(text("0"), "0");
}

TEST(QuantityTest, AmountsOfMemoryArePowersOf1024WhereThatIsShorter) {
  const auto text = [](absl::string_view resource, absl::string_view of) {
    return AmountText(resource, *Quantity::Parse(of));
  };
  EXPECT_EQ(text("memory", "536870912"), "512Mi");
  EXPECT_EQ(text("memory", "1.5Gi"), "1536Mi");
  EXPECT_EQ(text("memory", "1e9"), "1G");
  EXPECT_EQ(text("requests.storage", "1024Mi"), "1Gi");
  EXPECT_EQ(text("hugepages-2Mi", "4Mi"), "4Mi");
  EXPECT_EQ(text("cpu", "1024"), "1024");
  EXPECT_EQ(text("cpu", "2.5"), "2500m");
}

}  // namespace
}  // namespace schedsim::api
