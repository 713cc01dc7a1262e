#include "core/framework/signers.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "core/base/go_sort.h"
#include "core/framework/pod_info.h"

namespace schedsim::framework {

bool PodSigner::Begin(absl::string_view name) {
  if (std::find(parts_.begin(), parts_.end(), name) != parts_.end()) return false;
  parts_.push_back(name);
  Add(name);
  return true;
}

void PodSigner::Add(absl::string_view text) { absl::StrAppend(&text_, text.size(), ":", text); }

void PodSigner::Add(int64_t number) { absl::StrAppend(&text_, number, ";"); }

void PodSigner::Add(const std::vector<std::string>& texts) {
  Add(static_cast<int64_t>(texts.size()));
  for (const std::string& text : texts) Add(text);
}

// Tolerations of the same key and value stay in the order that Go's sort gives them.
bool SignTolerations(const PodInfo& pod, PodSigner& signer) {
  if (!signer.Begin("tolerations")) return true;
  std::vector<const api::Toleration*> tolerations;
  for (const api::Toleration& toleration : pod.pod->spec->tolerations) tolerations.push_back(&toleration);
  GoSort(tolerations, [](const api::Toleration* a, const api::Toleration* b) {
    return std::tie(a->key, a->value) < std::tie(b->key, b->value);
  });
  signer.Add(static_cast<int64_t>(tolerations.size()));
  for (const api::Toleration* toleration : tolerations) {
    signer.Add(toleration->key);
    signer.Add(toleration->operator_);
    signer.Add(toleration->value);
    signer.Add(toleration->effect);
    signer.Add(toleration->toleration_seconds.has_value() ? absl::StrCat(*toleration->toleration_seconds)
                                                          : "");
  }
  return true;
}

bool SignVolumes(const PodInfo& pod, PodSigner& signer) {
  if (!signer.Begin("volumes")) return true;
  std::vector<std::string> sources;
  for (const api::Volume& volume : pod.pod->spec->volumes) {
    if (volume.is_config_map || volume.is_secret) continue;
    if (volume.source.empty()) return false;
    sources.push_back(volume.source);
  }
  std::sort(sources.begin(), sources.end());
  signer.Add(sources);
  return true;
}

bool SignResources(const PodInfo& pod, PodSigner& signer) {
  if (!signer.Begin("resources")) return true;
  const Resource& requests = pod.spec_info->requests;
  signer.Add(requests.milli_cpu);
  signer.Add(requests.memory_bytes);
  signer.Add(requests.ephemeral_storage_bytes);
  signer.Add(static_cast<int64_t>(requests.scalars.size()));
  for (const ScalarResource& scalar : requests.scalars) {
    signer.Add(static_cast<int64_t>(scalar.name.id));
    signer.Add(scalar.value);
  }
  return true;
}

}  // namespace schedsim::framework
