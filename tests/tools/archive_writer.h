// Archives for tests.
#ifndef SCHEDSIM_TESTS_TOOLS_ARCHIVE_WRITER_H_
#define SCHEDSIM_TESTS_TOOLS_ARCHIVE_WRITER_H_

#include <string>
#include <utility>
#include <vector>

namespace schedsim {

// A tar or zip archive of files, by name and content, in this order.
std::string Pack(const std::vector<std::pair<std::string, std::string>>& files, bool zip);

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_TOOLS_ARCHIVE_WRITER_H_
