#include "sim/measure/metric_registry.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/base/check.h"

namespace schedsim::sim {
namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

// A whole number of nanoseconds in seconds, exactly: "0.001", "16.384", "1.0" where `is_float` asks for it.
std::string SecondsText(int64_t nanoseconds, bool is_float) {
  std::string text =
      absl::StrFormat("%d.%09d", nanoseconds / kNanosecondsPerSecond, nanoseconds % kNanosecondsPerSecond);
  const size_t last = text.find_last_not_of('0');
  text.erase(text[last] == '.' ? last : last + 1);
  return is_float && text.find('.') == std::string::npos ? text + ".0" : text;
}

// Seconds since 1970, exactly; 64 bits of nanoseconds would end in 2262.
std::string TimeText(absl::Time time) {
  int64_t seconds = absl::ToUnixSeconds(time);
  int64_t nanoseconds = absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds));
  const bool is_negative = seconds < 0;
  if (is_negative) {
    seconds = nanoseconds == 0 ? -seconds : -seconds - 1;
    nanoseconds = nanoseconds == 0 ? 0 : kNanosecondsPerSecond - nanoseconds;
  }
  const std::string fraction = SecondsText(nanoseconds, /*is_float=*/false).substr(1);
  return absl::StrCat(is_negative ? "-" : "", seconds, fraction);
}

// OpenMetrics has canonical numbers for le: those with a point.
std::string BoundText(int64_t bound, MetricUnit unit) {
  return unit == MetricUnit::kNanoseconds ? SecondsText(bound, /*is_float=*/true) : absl::StrCat(bound, ".0");
}

std::string ValueText(int64_t value, MetricUnit unit) {
  return unit == MetricUnit::kNanoseconds ? SecondsText(value, /*is_float=*/false) : absl::StrCat(value);
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

absl::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
  }
  CHECK(false);
}

}  // namespace

std::vector<int64_t> ExponentialBounds(int64_t first, int64_t factor, int count) {
  std::vector<int64_t> bounds;
  for (int i = 0; i < count; ++i, first *= factor) bounds.push_back(first);
  return bounds;
}

ExposedFamily::Metric& ExposedFamily::Of(const LabelValues& labels) {
  CHECK(labels.size() == options_.labels.size());
  Metric& metric = metrics_[labels];
  if (metric.values.empty()) {
    metric.values.resize(options_.type == MetricType::kHistogram ? options_.bounds.size() + 2 : 1);
  }
  return metric;
}

void ExposedFamily::Add(const LabelValues& labels, int64_t amount) { Of(labels).values[0] += amount; }

void ExposedFamily::Set(const LabelValues& labels, int64_t value) { Of(labels).values[0] = value; }

void ExposedFamily::SetAll(int64_t value) {
  for (auto& [labels, metric] : metrics_) metric.values[0] = value;
}

void ExposedFamily::Observe(const LabelValues& labels, int64_t value) {
  std::vector<int64_t>& values = Of(labels).values;
  for (size_t i = 0; i < options_.bounds.size(); ++i) {
    if (value <= options_.bounds[i]) ++values[i];
  }
  ++values[options_.bounds.size()];
  values.back() += value;
}

void ExposedFamily::Sample(absl::Time now) {
  for (auto& [labels, metric] : metrics_) {
    // The last sample may be due at the time of the one before.
    if (!metric.points.empty() && metric.points.back().time == now) metric.points.pop_back();
    metric.points.push_back({.time = now, .values = metric.values});
  }
}

std::vector<ExposedFamily::Line> ExposedFamily::LinesOf(const Point& point) const {
  if (options_.type != MetricType::kHistogram) {
    const std::string suffix = options_.type == MetricType::kCounter ? "_total" : "";
    return {{.suffix = suffix, .le = "", .value = absl::StrCat(point.values[0])}};
  }
  std::vector<Line> lines;
  for (size_t i = 0; i < options_.bounds.size(); ++i) {
    lines.push_back({.suffix = "_bucket",
                     .le = BoundText(options_.bounds[i], options_.unit),
                     .value = absl::StrCat(point.values[i])});
  }
  const std::string count = absl::StrCat(point.values[options_.bounds.size()]);
  lines.push_back({.suffix = "_bucket", .le = "+Inf", .value = count});
  lines.push_back({.suffix = "_count", .le = "", .value = count});
  lines.push_back({.suffix = "_sum", .le = "", .value = ValueText(point.values.back(), options_.unit)});
  return lines;
}

std::string ExposedFamily::LabelsText(const LabelValues& values, absl::string_view le) const {
  std::vector<std::string> labels;
  for (size_t i = 0; i < values.size(); ++i)
    labels.push_back(absl::StrCat(options_.labels[i], "=\"", Escaped(values[i]), "\""));
  std::sort(labels.begin(), labels.end());
  if (!le.empty()) labels.push_back(absl::StrCat("le=\"", le, "\""));
  return labels.empty() ? "" : absl::StrCat("{", absl::StrJoin(labels, ","), "}");
}

void ExposedFamily::AppendOpenMetrics(std::string& text) const {
  const absl::string_view name = options_.type == MetricType::kCounter
                                     ? absl::StripSuffix(options_.name, "_total")
                                     : absl::string_view(options_.name);
  absl::StrAppend(&text, "# HELP ", name, " ", Escaped(options_.help), "\n# TYPE ", name, " ",
                  TypeName(options_.type), "\n");
  for (const auto& [labels, metric] : metrics_) {
    for (const Point& point : metric.points) {
      const std::string time = TimeText(point.time);
      for (const Line& line : LinesOf(point)) {
        absl::StrAppend(&text, name, line.suffix, LabelsText(labels, line.le), " ", line.value, " ", time,
                        "\n");
      }
    }
  }
}

void ExposedFamily::AppendRows(absl::Time zero, codec::Table& table) const {
  const absl::string_view name = absl::StripSuffix(options_.name, "_total");
  for (const auto& [labels, metric] : metrics_) {
    for (const Point& point : metric.points) {
      for (const Line& line : LinesOf(point)) {
        table.Add({absl::ToInt64Microseconds(point.time - zero), absl::StrCat(name, line.suffix),
                   LabelsText(labels, line.le), line.value});
      }
    }
  }
}

void MetricRegistry::Sample(absl::Time now) {
  for (ExposedFamily& family : families_) family.Sample(now);
}

std::vector<const ExposedFamily*> MetricRegistry::ByName() const {
  std::vector<const ExposedFamily*> families;
  for (const ExposedFamily& family : families_) families.push_back(&family);
  std::sort(families.begin(), families.end(), [](const ExposedFamily* a, const ExposedFamily* b) {
    return a->options().name < b->options().name;
  });
  return families;
}

std::string MetricRegistry::OpenMetrics() const {
  std::string text;
  for (const ExposedFamily* family : ByName()) family->AppendOpenMetrics(text);
  return text + "# EOF\n";
}

std::string MetricRegistry::Csv(absl::Time zero) const {
  codec::Table table("MetricTable", {"time_microseconds", "name", "labels", "value"});
  for (const ExposedFamily* family : ByName()) family->AppendRows(zero, table);
  return table.Csv();
}

}  // namespace schedsim::sim
