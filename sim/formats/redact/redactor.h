// Makes the objects of a cluster fit to share.
#ifndef SCHEDSIM_SIM_FORMATS_REDACT_REDACTOR_H_
#define SCHEDSIM_SIM_FORMATS_REDACT_REDACTOR_H_

#include <string>
#include <vector>

namespace schedsim::sim {

struct RedactOptions {
  // See Pseudonyms; "": pseudonyms say nothing but their order.
  std::string key = "";
  std::vector<std::string> keep = {};
};

struct RedactedObjects {
  std::vector<std::string> objects;
  // What is not as it was, beyond names: for whoever runs both.
  std::vector<std::string> notes;
};

// The objects, compact JSON with apiVersion and kind, with pseudonyms for names, namespaces, labels, images
// and whatever else says whose cluster it is, and without all that scheduling does not read; see RedactionOf.
// The same text has the same pseudonym everywhere, so references lead where they led.
RedactedObjects Redact(const std::vector<std::string>& objects, const RedactOptions& options);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_REDACT_REDACTOR_H_
