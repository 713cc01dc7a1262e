#include "sim/scenario/latency_reader.h"

#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"

namespace schedsim::sim {
namespace {

using codec::ErrorList;
using codec::StrictReader;
using codec::Value;

constexpr char kExpectedLatency[] =
    "expected a duration such as 10ms, or a map such as {distribution: exponential, mean: 10ms}, got ";

// One of the distributions, with its parameters in the order of Latency's factories.
struct DistributionName {
  absl::string_view name;
  absl::string_view first;
  absl::string_view second;  // "": there is none.
};

constexpr DistributionName kDistributions[] = {{"constant", "value", ""},
                                               {"uniform", "min", "max"},
                                               {"exponential", "mean", ""},
                                               {"normal", "mean", "stddev"},
                                               {"lognormal", "median", "p99"}};

// Reads one parameter; std::nullopt when it is missing or wrong, which is an error then.
std::optional<absl::Duration> ReadParameter(StrictReader& reader, const Value& value, absl::string_view name,
                                            ErrorList& errors) {
  const std::string path = reader.PathOf(name);
  if (!reader.Has(name)) {
    errors.Add(value.position, absl::StrCat(path, ": expected a duration such as 10ms, got none"));
    return std::nullopt;
  }
  std::optional<absl::Duration> parameter;
  reader.Read(name, parameter);
  if (parameter.has_value() && *parameter >= absl::ZeroDuration() && *parameter <= Latency::kMax)
    return parameter;
  errors.Add(value.Find(name)->position, absl::StrCat(path, ": expected a duration from 0s to 24h"));
  return std::nullopt;
}

void ReadDistribution(const Value& value, const std::string& path, ErrorList& errors, Latency& latency) {
  StrictReader reader(value, path, errors);
  std::string name;
  reader.Read("distribution", name);
  const DistributionName* known = nullptr;
  for (const DistributionName& candidate : kDistributions) {
    if (candidate.name == name) known = &candidate;
  }
  if (known == nullptr) {
    const Value* given = value.Find("distribution");
    errors.Add((given == nullptr ? value : *given).position,
               absl::StrCat(reader.PathOf("distribution"),
                            ": expected constant, uniform, exponential, normal or lognormal, got ",
                            name.empty() ? "none" : absl::StrCat("\"", name, "\"")));
    return;
  }
  const std::optional<absl::Duration> first = ReadParameter(reader, value, known->first, errors);
  std::optional<absl::Duration> second = absl::ZeroDuration();
  if (!known->second.empty()) second = ReadParameter(reader, value, known->second, errors);
  reader.Finish();
  if (!first.has_value() || !second.has_value()) return;
  if (name == "constant") latency = *first;
  if (name == "exponential") latency = Latency::Exponential(*first);
  if (name == "normal") latency = Latency::Normal(*first, *second);
  const bool in_order = *first <= *second;
  if (name == "uniform" && in_order) latency = Latency::Uniform(*first, *second);
  if (name == "uniform" && !in_order) {
    errors.Add(value.position, absl::StrCat(path, ": expected a max that is not below min"));
  }
  if (name != "lognormal") return;
  if (in_order && *first > absl::ZeroDuration()) {
    latency = Latency::LogNormal(*first, *second);
  } else {
    errors.Add(value.position,
               absl::StrCat(path, ": expected a median above zero, and a p99 that is not below it"));
  }
}

void ReadClientLimit(const Value& value, const std::string& path, ErrorList& errors, ClientLimit& limit) {
  StrictReader reader(value, path, errors);
  double qps = 0;
  reader.Read("qps", qps);
  reader.Read("burst", limit.burst);
  reader.Finish();
  constexpr double kQpsMax = 1e6;
  if (!(qps >= 0 && qps <= kQpsMax)) {
    errors.Add(value.position, absl::StrCat(path, ".qps: expected a number from 0 (no limit) to 1000000"));
    return;
  }
  limit.milli_qps = std::llround(qps * 1000);
  if (limit.milli_qps == 0 && qps > 0) limit.milli_qps = 1;
  constexpr int64_t kBurstMax = 1'000'000;
  if (limit.milli_qps > 0 && (limit.burst < 1 || limit.burst > kBurstMax)) {
    errors.Add(value.position,
               absl::StrCat(path, ".burst: expected a whole number from 1 to 1000000, got ",
                            value.Find("burst") == nullptr ? "none" : absl::StrCat(limit.burst)));
  }
}

}  // namespace

void ReadLatency(StrictReader& reader, absl::string_view name, ErrorList& errors, Latency& latency) {
  const Value* value = reader.Take(name);
  if (value == nullptr) return;
  const std::string path = reader.PathOf(name);
  if (value->is_object()) {
    ReadDistribution(*value, path, errors, latency);
    return;
  }
  const std::optional<absl::Duration> duration =
      value->is_string() ? api::ParseGoDuration(value->text) : std::nullopt;
  if (duration.has_value() && *duration >= absl::ZeroDuration() && *duration <= Latency::kMax) {
    latency = *duration;
  } else if (duration.has_value()) {
    errors.Add(value->position,
               absl::StrCat(path, ": expected a duration from 0s to 24h, got ", value->text));
  } else {
    const std::string got =
        value->text.empty() ? std::string(Describe(value->type)) : absl::StrCat(value->text);
    errors.Add(value->position, absl::StrCat(path, ": ", kExpectedLatency, got));
  }
}

void ReadLatencyModel(const Value& value, const std::string& path, ErrorList& errors, LatencyModel& model) {
  StrictReader reader(value, path, errors);
  ReadLatency(reader, "schedulingCycle", errors, model.scheduling_cycle);
  ReadLatency(reader, "binding", errors, model.binding);
  ReadLatency(reader, "informer", errors, model.informer);
  ReadLatency(reader, "apiCall", errors, model.api_call);
  ReadLatency(reader, "podTermination", errors, model.pod_termination);
  reader.ReadMap("client", [&](const Value& client, const std::string& client_path) {
    ReadClientLimit(client, client_path, errors, model.client);
  });
  reader.Finish();
}

}  // namespace schedsim::sim
