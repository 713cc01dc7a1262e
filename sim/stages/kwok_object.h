// What all of kwok's objects begin with.
#ifndef SCHEDSIM_SIM_STAGES_KWOK_OBJECT_H_
#define SCHEDSIM_SIM_STAGES_KWOK_OBJECT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

struct KwokObjectHead {
  std::string kind;
  std::string name;
  std::string name_space;  // "": none is given.
};

// Takes apiVersion, kind and metadata of the object `root`, and the status that the API server may keep,
// which says nothing here. An object without a name is an error.
KwokObjectHead ReadKwokObjectHead(const codec::Value& root, codec::StrictReader& reader,
                                  codec::ErrorList& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_KWOK_OBJECT_H_
