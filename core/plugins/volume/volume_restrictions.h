// Volumes that two pods on a node cannot share.
#ifndef SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_RESTRICTIONS_H_
#define SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_RESTRICTIONS_H_

#include "core/api/pod.h"

namespace schedsim::plugins {

// Whether pods with these specs cannot run on one node, for the sake of a disk that both use.
bool DisksConflict(const api::PodSpec& spec, const api::PodSpec& other);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_RESTRICTIONS_H_
