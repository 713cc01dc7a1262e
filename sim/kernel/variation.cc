#include "sim/kernel/variation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/api/go_text.h"
#include "core/base/check.h"

namespace schedsim::sim {
namespace {

constexpr int64_t kWhole = 1'000'000;
constexpr size_t kRateDigits = 6;
constexpr char kNone[] = "none";

struct Dimension {
  absl::string_view name;
  bool Variation::*member;
};
constexpr Dimension kDimensions[] = {
    {"start", &Variation::start}, {"workers", &Variation::workers}, {"ties", &Variation::ties}};

constexpr std::array<absl::string_view, kFaultCount> kFaultNames = {"bind",  "answer",   "status",
                                                                    "evict", "conflict", "watch"};

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "0.05" as millionths; -1 for what is no rate.
int64_t ParseRate(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('.', 1));
  std::string digits(parts.second);
  const bool has_point = text.size() > parts.first.size();
  if (!IsNumber(parts.first) || (has_point && !IsNumber(digits)) || digits.size() > kRateDigits) return -1;
  digits.resize(kRateDigits, '0');
  int64_t whole = 0;
  int64_t part = 0;
  if (!absl::SimpleAtoi(parts.first, &whole) || !absl::SimpleAtoi(digits, &part) || whole > 1) return -1;
  const int64_t rate = whole * kWhole + part;
  return rate <= kWhole ? rate : -1;
}

std::string RateText(int64_t millionths) {
  std::string digits = absl::StrCat(absl::Dec(millionths % kWhole, absl::kZeroPad6));
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return absl::StrCat(millionths / kWhole, digits.empty() ? "" : ".", digits);
}

absl::Status TwiceError(absl::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": is given twice, expected it once"));
}

}  // namespace

std::string VariationText(const Variation& variation) {
  std::vector<absl::string_view> names;
  for (const Dimension& dimension : kDimensions)
    if (variation.*dimension.member) names.push_back(dimension.name);
  return names.empty() ? kNone : absl::StrJoin(names, ",");
}

absl::StatusOr<Variation> ParseVariation(absl::string_view text) {
  Variation variation;
  if (text == kNone) return variation;
  for (const absl::string_view name : absl::StrSplit(text, ',')) {
    const auto* const found = std::find_if(std::begin(kDimensions), std::end(kDimensions),
                                           [name](const Dimension& known) { return known.name == name; });
    if (found == std::end(kDimensions)) {
      return absl::InvalidArgumentError(absl::StrCat(
          api::GoQuote(name), " can't be varied, expected some of start, workers and ties, or none"));
    }
    if (variation.*found->member) return TwiceError(name);
    variation.*found->member = true;
  }
  return variation;
}

absl::string_view FaultName(Fault fault) { return kFaultNames[static_cast<size_t>(fault)]; }

bool FaultRates::any() const {
  return std::any_of(millionths.begin(), millionths.end(), [](int64_t rate) { return rate > 0; });
}

std::string FaultsText(const FaultRates& rates) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < kFaultCount; ++i) {
    if (rates.millionths[i] > 0)
      parts.push_back(absl::StrCat(kFaultNames[i], "=", RateText(rates.millionths[i])));
  }
  return parts.empty() ? kNone : absl::StrJoin(parts, ",");
}

absl::StatusOr<FaultRates> ParseFaults(absl::string_view text) {
  FaultRates rates;
  if (text == kNone) return rates;
  std::array<bool, kFaultCount> is_given = {};
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> given =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const auto* const found = std::find(kFaultNames.begin(), kFaultNames.end(), given.first);
    if (found == kFaultNames.end()) {
      return absl::InvalidArgumentError(absl::StrCat(api::GoQuote(part), " is no fault, expected some of ",
                                                     absl::StrJoin(kFaultNames, ", "),
                                                     " with their rates, as in bind=0.05,watch=0.01"));
    }
    const auto place = static_cast<size_t>(found - kFaultNames.begin());
    if (is_given[place]) return TwiceError(given.first);
    is_given[place] = true;
    const int64_t rate = ParseRate(given.second);
    if (rate < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(given.first, ": ", api::GoQuote(given.second),
                       " is no rate, expected a decimal from 0 to 1, to the millionth, such as 0.05"));
    }
    rates.millionths[place] = rate;
  }
  return rates;
}

Faults::Faults(const FaultRates& rates, const Rng& rng)
    : streams_{Stream{.rng = rng.Fork("faults/bind")},     Stream{.rng = rng.Fork("faults/answer")},
               Stream{.rng = rng.Fork("faults/status")},   Stream{.rng = rng.Fork("faults/evict")},
               Stream{.rng = rng.Fork("faults/conflict")}, Stream{.rng = rng.Fork("faults/watch")}} {
  for (size_t i = 0; i < kFaultCount; ++i) streams_[i].millionths = rates.millionths[i];
}

bool Faults::Strikes(Fault fault) {
  Stream& stream = streams_[static_cast<size_t>(fault)];
  if (stream.millionths == 0 || stream.rng.Below(kWhole) >= stream.millionths) return false;
  ++stream.count;
  return true;
}

void Faults::BeginLook() {
  CHECK(!in_look_);
  in_look_ = true;
  met_conflict_ = false;
}

bool Faults::EndLook() {
  CHECK(in_look_);
  in_look_ = false;
  return met_conflict_;
}

bool Faults::MeetsConflict() {
  if (!in_look_ || !Strikes(Fault::kConflict)) return false;
  met_conflict_ = true;
  return true;
}

}  // namespace schedsim::sim
