// The Go types of a pod's template.
#ifndef SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_TYPES_H_
#define SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_TYPES_H_

namespace schedsim::sim {

// `TYPE FIELD FIELD...;` for each struct, the template first. A field is `Name|json|type|kind`: json is ""
// for a struct whose fields stand in the one around it; kind is S (struct), s (string), i (integer), b
// (bool), p (pointer), l (list) or m (map). Behind it `+36` or `-35`: from, or up to, that release.
extern const char kPodTemplateTypes[];

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_POD_TEMPLATE_TYPES_H_
