#include "sim/scenario/arrivals_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "sim/formats/named_file.h"
#include "sim/formats/object_inspector.h"
#include "sim/scenario/arrivals_file.h"
#include "sim/scenario/latency_reader.h"
#include "sim/scenario/span_reader.h"

namespace schedsim::sim {
namespace {

using codec::ErrorList;
using codec::StrictReader;
using codec::Value;

constexpr int64_t kCountMax = 100'000'000;

class SourceReader {
 public:
  SourceReader(std::optional<absl::Duration> end, const TimelineReaderOptions& options,
               codec::ObjectReader& objects, ErrorList& errors)
      : end_(end), options_(options), objects_(objects), errors_(errors) {}

  // Absent: something is wrong with the entry.
  std::optional<ArrivalSource> Read(const Value& value, const std::string& path) {
    StrictReader reader(value, path, errors_);
    if (!value.is_object()) return std::nullopt;
    std::string name;
    reader.Read("name", name);
    const bool is_known = std::find(names_.begin(), names_.end(), name) != names_.end();
    if (name.empty() || is_known) {
      Error(value, reader.PathOf("name"),
            is_known ? "expected a name that no other entry has" : "expected a name for the source");
    }
    names_.push_back(name);
    const std::optional<ArrivalProcess> process = ReadProcess(reader, value, path);
    kind_.reset();
    std::optional<IndexedTemplate> object = ReadTemplate(reader, value, process);
    absl::Duration from;
    std::optional<absl::Duration> until;
    ReadSpan(reader, "from", errors_, from);
    ReadSpan(reader, "until", errors_, until);
    std::optional<int64_t> count;
    reader.Read("count", count);
    CheckEnd(reader, value, process, from, until, count);
    std::optional<Latency> lifetime;
    if (reader.Has("lifetime")) ReadLatency(reader, "lifetime", errors_, lifetime.emplace());
    std::string ending = "Deleted";
    reader.Read("ending", ending);
    if (const Value* given = value.Find("ending")) {
      const bool has_lifetimes =
          lifetime.has_value() || !process.has_value() || std::get_if<RecordedArrivals>(&*process) != nullptr;
      CheckEnding(*given, reader.PathOf("ending"), has_lifetimes);
    }
    reader.Finish();
    if (!process.has_value() || !object.has_value()) return std::nullopt;
    const codec::Location place = {.file = options_.file, .position = value.position};
    return ArrivalSource{.name = std::move(name),
                         .place = std::string(codec::ErrorAt(place, path).message()),
                         .process = *process,
                         .from = from,
                         .until = until,
                         .count = count,
                         .object = *std::move(object),
                         .lifetime = lifetime,
                         .last_phase = ending == "Deleted" ? "" : ending};
  }

  const absl::Status& status() const { return status_; }

 private:
  void Error(const Value& value, const std::string& path, absl::string_view what) {
    errors_.Add(value.position, absl::StrCat(path, ": ", what));
  }

  // One of `every`, `poisson`, `bursts`, `diurnal` and `file`.
  std::optional<ArrivalProcess> ReadProcess(StrictReader& reader, const Value& value,
                                            const std::string& path) {
    std::vector<ArrivalProcess> read;
    if (reader.Has("every")) {
      Renewals renewals;
      ReadLatency(reader, "every", errors_, renewals.gap);
      read.emplace_back(renewals);
    }
    reader.ReadMap("poisson", [&](const Value& map, const std::string& map_path) {
      StrictReader fields(map, map_path, errors_);
      const std::optional<ArrivalRate> rate = ReadRate(fields, map, /*may_be_zero=*/false);
      fields.Finish();
      read.emplace_back(
          Renewals{Latency::Exponential(rate.has_value() ? rate->MeanGap() : absl::Seconds(1))});
    });
    reader.ReadMap("bursts", [&](const Value& map, const std::string& map_path) {
      read.emplace_back(ReadBursts(map, map_path));
    });
    reader.ReadMap("diurnal", [&](const Value& map, const std::string& map_path) {
      read.emplace_back(ReadDiurnal(map, map_path));
    });
    if (const Value* file = reader.Take("file")) read.emplace_back(ReadRows(*file, reader.PathOf("file")));
    if (read.size() == 1) return read[0];
    Error(value, path, "expected one process: every, poisson, bursts, diurnal or file");
    return std::nullopt;
  }

  // `rate`; absent: it is wrong, which is an error then.
  std::optional<ArrivalRate> ReadRate(StrictReader& reader, const Value& value, bool may_be_zero) {
    const Value* const given = reader.Take("rate");
    const absl::StatusOr<ArrivalRate> rate =
        ArrivalRate::Parse(given != nullptr && given->is_string() ? given->text : "");
    const Value& at = given == nullptr ? value : *given;
    if (!rate.ok()) {
      Error(at, reader.PathOf("rate"), rate.status().message());
      return std::nullopt;
    }
    // The mean gap is a latency, at most a day.
    constexpr int64_t kOncePerDay = 1000;
    if (rate->milli_per_day() >= kOncePerDay || (may_be_zero && rate->milli_per_day() == 0)) return *rate;
    Error(at, reader.PathOf("rate"), may_be_zero ? "expected 0/s, or at least 1/d" : "expected at least 1/d");
    return std::nullopt;
  }

  Bursts ReadBursts(const Value& map, const std::string& path) {
    Bursts bursts;
    StrictReader reader(map, path, errors_);
    if (!reader.Has("every")) Error(map, reader.PathOf("every"), "expected a duration such as 10m, got none");
    ReadLatency(reader, "every", errors_, bursts.gap);
    const Value* const size = reader.Take("size");
    std::optional<int64_t> min;
    std::optional<int64_t> max;
    if (size != nullptr && size->is_object()) {
      StrictReader fields(*size, reader.PathOf("size"), errors_);
      fields.Read("min", min);
      fields.Read("max", max);
      fields.Finish();
    } else {
      reader.Read("size", min);
      max = min;
    }
    reader.Finish();
    bursts.size_min = min.value_or(0);
    bursts.size_max = max.value_or(0);
    if (bursts.size_min >= 1 && bursts.size_min <= bursts.size_max && bursts.size_max <= kCountMax)
      return bursts;
    Error(size == nullptr ? map : *size, reader.PathOf("size"),
          "expected a whole number above zero, or a map such as {min: 5, max: 20}");
    return {};
  }

  Diurnal ReadDiurnal(const Value& map, const std::string& path) {
    Diurnal diurnal;
    StrictReader reader(map, path, errors_);
    ReadSpan(reader, "period", errors_, diurnal.period);
    if (diurnal.period <= absl::ZeroDuration()) {
      Error(*map.Find("period"), reader.PathOf("period"), "expected a duration above zero");
      diurnal.period = absl::Hours(24);
    }
    reader.ReadList("rates", [&](const Value& item, const std::string& item_path) {
      Diurnal::Point point;
      StrictReader fields(item, item_path, errors_);
      ReadSpan(fields, "at", errors_, point.at);
      point.rate = ReadRate(fields, item, /*may_be_zero=*/true).value_or(ArrivalRate());
      fields.Finish();
      const bool is_later = diurnal.points.empty() || diurnal.points.back().at < point.at;
      if (!is_later || point.at >= diurnal.period) {
        Error(item, fields.PathOf("at"),
              "expected a time behind that of the entry before, and within the period");
        return;
      }
      diurnal.points.push_back(point);
    });
    reader.Finish();
    if (!diurnal.points.empty() && diurnal.MaxRate().milli_per_day() > 0) return diurnal;
    Error(map, reader.PathOf("rates"), "expected a list of times with rates, one of them above zero");
    diurnal.points = {{.at = absl::ZeroDuration(), .rate = *ArrivalRate::Parse("1/s")}};
    return diurnal;
  }

  RecordedArrivals ReadRows(const Value& file, const std::string& path) {
    if (!file.is_string() || file.text.empty() || file.text == "-") {
      Error(file, path, "expected the path of a file");
      return {};
    }
    const std::string name = PathFrom(options_.folder, file.text);
    if (options_.read_paths != nullptr) options_.read_paths->push_back(name);
    const absl::StatusOr<std::string> text = codec::ReadFile(name);
    const codec::Location place = {.file = options_.file, .position = file.position};
    status_.Update(AtName(text.status(), codec::ErrorAt(place, path).message()));
    if (!text.ok()) return {};
    absl::StatusOr<RecordedArrivals> rows = ReadArrivalsText(*text, name);
    status_.Update(rows.status());
    return rows.ok() ? *std::move(rows) : RecordedArrivals();
  }

  std::optional<IndexedTemplate> ReadTemplate(StrictReader& reader, const Value& value,
                                              const std::optional<ArrivalProcess>& process) {
    const Value* const given = reader.Take("template");
    if (given == nullptr || !given->is_object()) {
      Error(value, reader.PathOf("template"), "expected an object");
      return std::nullopt;
    }
    absl::StatusOr<IndexedTemplate> made = IndexedTemplate::Make(*given, options_.file);
    status_.Update(made.status());
    if (!made.ok()) return std::nullopt;
    // The first one stands for all: the others differ in the fields of their rows and in their numbers.
    const auto* const recorded = process.has_value() ? std::get_if<RecordedArrivals>(&*process) : nullptr;
    if (recorded != nullptr && recorded->rows.empty()) return *std::move(made);
    const GoValue::Map fields = recorded == nullptr ? GoValue::Map() : recorded->rows[0].fields;
    status_.Update(made->Render(0, fields, [&](const Value& object) {
      return objects_.ReadValue(object, options_.file,
                                [this](const api::ObjectPtr& first, const codec::Location& location) {
                                  kind_ = first->kind;
                                  return RefuseUnservedKind(*first, location);
                                });
    }));
    return *std::move(made);
  }

  // How objects end at the end of their lifetimes.
  void CheckEnding(const Value& ending, const std::string& path, bool has_lifetimes) {
    const bool is_known = ending.text == "Deleted" || ending.text == "Succeeded" || ending.text == "Failed";
    if (!is_known) {
      Error(ending, path, "expected Deleted, Succeeded or Failed");
    } else if (!has_lifetimes) {
      Error(ending, path, "expected a lifetime beside it");
    } else if (ending.text != "Deleted" && kind_.has_value() && *kind_ != api::Kind::kPod) {
      Error(ending, path, "expected Deleted, which other objects than pods are");
    }
  }

  // A source ends with its time, its number, its file or the run.
  void CheckEnd(const StrictReader& reader, const Value& value, const std::optional<ArrivalProcess>& process,
                absl::Duration from, std::optional<absl::Duration> until, std::optional<int64_t> count) {
    if (until.has_value() && *until <= from)
      Error(*value.Find("until"), reader.PathOf("until"), "expected a time behind that of `from`");
    if (end_.has_value() && from >= *end_) {
      // Without `from` they begin at once, which is too late where the run ends at once.
      const Value* const written = value.Find("from");
      Error(written == nullptr ? value : *written, reader.PathOf("from"),
            absl::StrCat("expected a time before the end, ", absl::FormatDuration(*end_)));
    }
    if (count.has_value() && (*count < 1 || *count > kCountMax))
      Error(*value.Find("count"), reader.PathOf("count"), "expected a whole number above zero");
    const bool is_file = process.has_value() && std::holds_alternative<RecordedArrivals>(*process);
    if (is_file || until.has_value() || count.has_value() || end_.has_value()) return;
    Error(value, reader.PathOf("until"),
          "expected a time, or a count, or an end of the scenario: it never ends");
  }

  const std::optional<absl::Duration> end_;
  const TimelineReaderOptions& options_;
  codec::ObjectReader& objects_;
  ErrorList& errors_;
  std::vector<std::string> names_;
  absl::Status status_;
  // Of the template of the entry that is read; absent: none was made of it.
  std::optional<api::Kind> kind_;
};

}  // namespace

absl::StatusOr<std::vector<ArrivalSource>> ReadArrivals(const Value& list, std::optional<absl::Duration> end,
                                                        const TimelineReaderOptions& options,
                                                        codec::ObjectReader& objects, ErrorList& errors) {
  std::vector<ArrivalSource> sources;
  if (!list.is_array()) {
    errors.Add(list.position, absl::StrCat("arrivals: expected a list, got ", Describe(list.type)));
    return sources;
  }
  SourceReader reader(end, options, objects, errors);
  for (size_t i = 0; i < list.items.size(); ++i) {
    std::optional<ArrivalSource> source = reader.Read(list.items[i], absl::StrCat("arrivals[", i, "]"));
    if (source.has_value()) sources.push_back(*std::move(source));
  }
  RETURN_IF_ERROR(reader.status());
  return sources;
}

}  // namespace schedsim::sim
