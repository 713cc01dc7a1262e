// Archives of files: tar and zip.
#ifndef SCHEDSIM_SIM_FORMATS_ARCHIVE_H_
#define SCHEDSIM_SIM_FORMATS_ARCHIVE_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// Whether the bytes are those of a tar or zip archive. A compressed tar is to be decompressed before.
bool IsArchive(absl::string_view bytes);

// Hands on the files in the archive in their order, with the names that they have in it: names only, nothing
// is written anywhere. `wants` says which names are wanted; the others are not decompressed. InvalidArgument,
// starting with `archive`, the name of the file, for an archive that is damaged or cut off, and for one that
// grows as only a bomb does; and the sink's errors.
absl::Status ReadArchive(absl::string_view bytes, absl::string_view archive,
                         absl::FunctionRef<bool(absl::string_view name)> wants,
                         absl::FunctionRef<absl::Status(absl::string_view name, std::string content)> sink);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_ARCHIVE_H_
