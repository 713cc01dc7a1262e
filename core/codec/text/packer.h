// Archives are written piece by piece; input.h reads them.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_PACKER_H_
#define SCHEDSIM_CORE_CODEC_TEXT_PACKER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::codec {

// Compresses a text as it comes. The same calls give the same bytes: an archive holds neither time nor name.
class Packer {
 public:
  // Returns the packer that the ending of a file's name asks for, .gz or .zst; nullptr: the file is plain.
  // InvalidArgument for .xz, which is only read: it is too slow for what is written while a program runs.
  static absl::StatusOr<std::unique_ptr<Packer>> ForFile(absl::string_view name);

  virtual ~Packer() = default;

  // Appends to `out` what is ready of the archive, which may be nothing.
  virtual void Add(absl::string_view text, std::string& out) = 0;
  // Appends the rest. Nothing is added after it.
  virtual void Finish(std::string& out) = 0;
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_PACKER_H_
