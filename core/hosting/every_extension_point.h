// A plugin at every extension point: which of them one that users bring has is known when it is loaded, so
// that a profile names it at no other.
#ifndef SCHEDSIM_CORE_HOSTING_EVERY_EXTENSION_POINT_H_
#define SCHEDSIM_CORE_HOSTING_EVERY_EXTENSION_POINT_H_

#include "core/framework/informer_cache.h"
#include "core/framework/plugin.h"

namespace schedsim::hosting {

class EveryExtensionPoint : public framework::Plugin,
                            public framework::QueueSortPlugin,
                            public framework::PreEnqueuePlugin,
                            public framework::PreFilterPlugin,
                            public framework::FilterPlugin,
                            public framework::PostFilterPlugin,
                            public framework::PreScorePlugin,
                            public framework::ScorePlugin,
                            public framework::ReservePlugin,
                            public framework::PermitPlugin,
                            public framework::PreBindPlugin,
                            public framework::BindPlugin,
                            public framework::PostBindPlugin,
                            public framework::SignPlugin,
                            public framework::EnqueueExtensions,
                            public framework::InformerHandler {};

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_EVERY_EXTENSION_POINT_H_
