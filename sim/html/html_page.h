// The page about a run: one file of HTML that needs nothing else, no network either.
#ifndef SCHEDSIM_SIM_HTML_HTML_PAGE_H_
#define SCHEDSIM_SIM_HTML_HTML_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "sim/html/page.h"

namespace schedsim::sim {

// JSON as it may stand in a script element, whatever its texts are: what could end the element, or be read
// as HTML, is written as an escape of JSON. It stays the same JSON.
std::string JsonForScript(absl::string_view json);

// The whole file. The same page gives the same bytes.
std::string HtmlPage(const Page& page);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_HTML_HTML_PAGE_H_
