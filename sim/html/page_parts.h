// The style and the script of the page, page.css and page.js, as they are built into the program.
#ifndef SCHEDSIM_SIM_HTML_PAGE_PARTS_H_
#define SCHEDSIM_SIM_HTML_PAGE_PARTS_H_

namespace schedsim::sim {

extern const char kPageStyle[];
extern const char kPageScript[];

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_HTML_PAGE_PARTS_H_
