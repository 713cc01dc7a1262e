// Signatures: what of a pod decides where it can go and how nodes score for it.
#ifndef SCHEDSIM_CORE_FRAMEWORK_SIGNERS_H_
#define SCHEDSIM_CORE_FRAMEWORK_SIGNERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::framework {

struct PodInfo;

// Pods of one profile with the same signature get the same answers from its plugins, as long as the
// nodes stay as they are. "": the pod has none. Upstream's are JSON; only equality counts.
using PodSignature = std::string;

// Builds a signature out of named parts.
class PodSigner {
 public:
  // Starts the part `name`, a literal. False where it is there already: then it has the same value, and
  // nothing is to be added.
  bool Begin(absl::string_view name);
  // Adds to the part. Texts keep their boundaries; lists need their length in front of them.
  void Add(absl::string_view text);
  void Add(int64_t number);
  // The length, and the texts in their order.
  void Add(const std::vector<std::string>& texts);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<absl::string_view> parts_;
};

// Parts that more than one plugin has. Each returns whether the pod can be signed.
// Source: kube-scheduler v0.37, framework/signers.go, and the plugins' SignPod.

bool SignTolerations(const PodInfo& pod, PodSigner& signer);
// Volumes that hold a config map or a secret do not count. A pod with a volume whose source is not
// known, which no codec gives, cannot be signed.
bool SignVolumes(const PodInfo& pod, PodSigner& signer);
// What the pod asks for.
bool SignResources(const PodInfo& pod, PodSigner& signer);

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_SIGNERS_H_
