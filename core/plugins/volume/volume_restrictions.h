// Volumes that two pods cannot share.
#ifndef SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_RESTRICTIONS_H_
#define SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_RESTRICTIONS_H_

#include "core/api/pod.h"
#include "core/api/storage.h"

namespace schedsim::plugins {

// Whether pods with these specs cannot run on one node, for the sake of a disk that both use.
bool DisksConflict(const api::PodSpec& spec, const api::PodSpec& other);

// Whether only one pod may use the claim: it has the access mode ReadWriteOncePod.
bool IsExclusive(const api::PersistentVolumeClaim& claim);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_RESTRICTIONS_H_
