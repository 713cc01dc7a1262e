#include "core/framework/pod_info.h"

#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "core/framework/host_ports.h"

namespace schedsim::framework {
namespace {

// A few thousand, since pods of real clusters seldom share more specs. Each takes some kilobytes at most, and
// is alive anyway while a pod has it.
constexpr size_t kRecentSpecs = 16384;
constexpr size_t kRecentLabels = 4096;

// Source: kubernetes v1.37, plugins/imagelocality/image_locality.go, normalizedImageName.
std::string NormalizedImageName(absl::string_view name) {
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool has_tag =
      colon != absl::string_view::npos && (slash == absl::string_view::npos || colon > slash);
  return has_tag ? std::string(name) : absl::StrCat(name, ":latest");
}

void AddImages(const api::PodSpec& spec, api::ImageVolumeScoring scoring, SymbolTable& symbols,
               PodSpecInfo& info) {
  for (const auto* containers : {&spec.init_containers, &spec.containers}) {
    for (const api::Container& container : *containers) {
      info.images.push_back(symbols.Intern(NormalizedImageName(container.image)));
    }
  }
  info.image_count = static_cast<int64_t>(info.images.size());
  if (scoring == api::ImageVolumeScoring::kIgnored) return;
  for (const api::Volume& volume : spec.volumes) {
    if (!volume.image.has_value()) continue;
    info.images.push_back(symbols.Intern(NormalizedImageName(volume.image->reference)));
    if (scoring == api::ImageVolumeScoring::kSummedAndCounted) ++info.image_count;
  }
}

}  // namespace

int32_t PodInfoFactory::NumberOf(absl::string_view part, LookupMap<std::string, int32_t>& numbers) {
  if (const int32_t* known = numbers.Find(part)) return *known;
  const int32_t number = static_cast<int32_t>(numbers.size());
  numbers[std::string(part)] = number;
  return number;
}

std::shared_ptr<const PodSpecInfo> PodInfoFactory::Compile(const api::PodSpec& spec,
                                                           const SchedulingKey& key) {
  if (const auto* known = classes_.Find(key.WithoutVolumes())) return *known;
  auto info = std::make_shared<PodSpecInfo>();
  info->id = static_cast<int32_t>(classes_.size());
  for (size_t i = 0; i < static_cast<size_t>(Concern::kVolumes); ++i) {
    info->concern_ids[i] = NumberOf(key.Part(static_cast<Concern>(i)), concerns_[i]);
  }
  const auto id_of = [&](Concern concern) { return info->concern_ids[static_cast<size_t>(concern)]; };
  const std::array<int32_t, 3> spreading = {id_of(Concern::kSpreading), id_of(Concern::kNodeSelection),
                                            id_of(Concern::kTolerations)};
  const int32_t next = static_cast<int32_t>(spreading_ids_.size());
  const int32_t* const known_spreading = spreading_ids_.Find(spreading);
  info->spreading_id = known_spreading == nullptr ? spreading_ids_[spreading] = next : *known_spreading;
  info->requests = MakeResource(PodRequests(spec, nullptr, {}), symbols_);
  info->non_zero_requests = MakeResource(NonZeroRequests(spec, nullptr, {}), symbols_);
  const PodRequestsOptions scoring = {.default_milli_cpu = kDefaultMilliCpuRequest,
                                      .default_memory_bytes = kDefaultMemoryRequestBytes,
                                      .use_pod_level = false};
  info->scoring_requests = MakeResource(PodRequests(spec, nullptr, scoring), symbols_);
  info->host_ports = HostPortsOf(spec, symbols_);
  info->tolerations = spec.tolerations;
  info->required_node_affinity = RequiredNodeAffinity(spec, symbols_);
  if (spec.affinity.has_value() && spec.affinity->node_affinity.has_value()) {
    info->preferred_node_terms = PreferredNodeTerms(
        spec.affinity->node_affinity->preferred_during_scheduling_ignored_during_execution, symbols_);
  }
  info->affinity_terms = PodAffinityTerms(spec, line_.line, symbols_);
  AddImages(spec, line_.image_volume_scoring, symbols_, *info);
  classes_[std::string(key.WithoutVolumes())] = info;
  return info;
}

const PodInfoFactory::CompiledSpec& PodInfoFactory::CompileShared(
    const std::shared_ptr<const api::PodSpec>& spec) {
  recent_specs_.resize(kRecentSpecs);
  CompiledSpec& recent = recent_specs_[absl::HashOf(spec.get()) % kRecentSpecs];
  if (recent.spec == spec) return recent;
  const SchedulingKey key(*spec);
  recent = CompiledSpec{.spec = spec, .info = Compile(*spec, key)};
  const absl::string_view volumes = key.Part(Concern::kVolumes);
  if (!volumes.empty()) {
    // 0 stands for none.
    recent.volumes_id = 1 + NumberOf(volumes, concerns_[static_cast<size_t>(Concern::kVolumes)]);
  }
  return recent;
}

const PodInfoFactory::CompiledLabels& PodInfoFactory::CompileLabels(const api::ObjectMeta& metadata) {
  recent_labels_.resize(kRecentLabels);
  const auto& storage = metadata.labels.entries().storage();
  CompiledLabels& recent =
      recent_labels_[absl::HashOf(storage.get(), metadata.namespace_.size()) % kRecentLabels];
  const bool is_known =
      recent.id >= 0 && recent.labels == storage && recent.name_space == metadata.namespace_;
  if (is_known) return recent;
  recent = CompiledLabels{.labels = storage,
                          .name_space = metadata.namespace_,
                          .symbol = symbols_.Intern(metadata.namespace_),
                          .set = LabelSet(metadata.labels, symbols_)};
  const std::pair key(recent.symbol, recent.set.entries());
  if (const int32_t* known = labels_ids_.Find(key)) {
    recent.id = *known;
  } else {
    recent.id = static_cast<int32_t>(labels_ids_.size());
    labels_ids_[key] = recent.id;
  }
  return recent;
}

PodInfoPtr PodInfoFactory::MakeAfter(const PodInfoPtr& earlier, api::PodPtr pod) {
  if (earlier == nullptr || HasStatusResources(pod->status)) return Make(std::move(pod));
  const api::Pod& before = *earlier->pod;
  const bool is_alike = before.spec == pod->spec && before.metadata.name == pod->metadata.name &&
                        before.metadata.namespace_ == pod->metadata.namespace_ &&
                        before.metadata.labels == pod->metadata.labels && !HasStatusResources(before.status);
  if (!is_alike) return Make(std::move(pod));
  auto info = std::make_shared<PodInfo>(*earlier);
  info->pod = std::move(pod);
  return info;
}

PodInfoPtr PodInfoFactory::Make(api::PodPtr pod) {
  auto info = std::make_shared<PodInfo>();
  const CompiledSpec& compiled = CompileShared(pod->spec);
  info->spec_info = compiled.info;
  info->volumes_id = compiled.volumes_id;
  info->priority = pod->Priority();
  const CompiledLabels& labels = CompileLabels(pod->metadata);
  info->namespace_ = labels.symbol;
  info->labels = labels.set;
  info->labels_id = labels.id;
  // The sums of the spec serve all other pods.
  if (HasStatusResources(pod->status)) {
    const PodRequestsOptions options = OptionsWithStatus(line_);
    info->requests = MakeResource(PodRequests(*pod->spec, &pod->status, options), symbols_);
    const Resource non_zero = MakeResource(NonZeroRequests(*pod->spec, &pod->status, options), symbols_);
    info->non_zero_milli_cpu = non_zero.milli_cpu;
    info->non_zero_memory_bytes = non_zero.memory_bytes;
  } else {
    info->requests = info->spec_info->requests;
    info->non_zero_milli_cpu = info->spec_info->non_zero_requests.milli_cpu;
    info->non_zero_memory_bytes = info->spec_info->non_zero_requests.memory_bytes;
  }
  info->pod = std::move(pod);
  return info;
}

}  // namespace schedsim::framework
