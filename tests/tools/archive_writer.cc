#include "tests/tools/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"

namespace schedsim {

std::string Pack(const std::vector<std::pair<std::string, std::string>>& files, bool zip) {
  size_t most = size_t{1} << 20;
  for (const auto& [name, content] : files) most += content.size();
  std::string bytes(most, '\0');
  size_t used = 0;
  struct archive* const writer = archive_write_new();
  zip ? archive_write_set_format_zip(writer) : archive_write_set_format_ustar(writer);
  EXPECT_EQ(archive_write_open_memory(writer, bytes.data(), bytes.size(), &used), ARCHIVE_OK);
  for (const auto& [name, content] : files) {
    struct archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
    archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

}  // namespace schedsim
