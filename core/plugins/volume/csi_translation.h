// In-tree volumes as the CSI drivers that took their place see them.
#ifndef SCHEDSIM_CORE_PLUGINS_VOLUME_CSI_TRANSLATION_H_
#define SCHEDSIM_CORE_PLUGINS_VOLUME_CSI_TRANSLATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/api/storage.h"

// Source of this file: csi-translation-lib v0.37, translate.go and plugins; the same from v0.34 on.
namespace schedsim::plugins {

// "kubernetes.io/aws-ebs" and so on, of a volume with an in-tree source that can migrate; "" for others.
absl::string_view InTreePluginOf(const api::PersistentVolumeSpec& spec);
absl::string_view InTreePluginOf(const api::Volume& volume);

inline constexpr absl::string_view kPortworxPlugin = "kubernetes.io/portworx-volume";

// The driver that took the place of an in-tree plugin; "" for names that are no such plugin.
absl::string_view CsiDriverOfInTreePlugin(absl::string_view plugin);

// Whether volumes of this in-tree plugin are always handed to its CSI driver: all but azure-file and
// vsphere-volume, which the scheduler leaves alone.
bool MigratesToCsi(absl::string_view plugin);

// Whether the node's annotation storage.alpha.kubernetes.io/migrated-plugins lists the plugin.
// `csi_node`: nullptr where there is none.
bool AnnotatedAsMigrated(absl::string_view plugin, const api::CSINode* csi_node);
inline constexpr char kMigratedPluginsAnnotation[] = "storage.alpha.kubernetes.io/migrated-plugins";

// A copy of a volume whose plugin migrates, with a CSI source and the driver's topology key in the node
// affinity. InvalidArgument, in upstream's words, where the volume's name or zones make no sense.
absl::StatusOr<std::shared_ptr<api::PersistentVolume>> TranslateToCsi(const api::PersistentVolume& volume);

// The CSI source of a volume in a pod whose plugin migrates. InvalidArgument as above.
absl::StatusOr<api::CSIPersistentVolumeSource> TranslateInlineToCsi(const api::Volume& volume);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_VOLUME_CSI_TRANSLATION_H_
