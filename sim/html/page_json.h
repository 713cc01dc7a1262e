// The data of the page about a run, as its script reads them.
#ifndef SCHEDSIM_SIM_HTML_PAGE_JSON_H_
#define SCHEDSIM_SIM_HTML_PAGE_JSON_H_

#include <string>

#include "sim/html/page.h"

namespace schedsim::sim {

// JSON on one line; docs/html-report.md has its fields. Tables are columns, and texts that many rows share
// are numbers into a list.
std::string PageJson(const Page& page);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_HTML_PAGE_JSON_H_
