// The readers that are fuzzed, each as one function.
#ifndef SCHEDSIM_TESTS_FUZZ_READERS_H_
#define SCHEDSIM_TESTS_FUZZ_READERS_H_

#include <string>
#include <vector>

namespace schedsim {

struct Reader {
  // Also the folder of its corpus in tests/fuzz/corpus.
  const char* name;
  // The file's name, whose ending says the format.
  const char* file;
  // Reads `text`, which the file at `path` holds as well. Returns "" where it was read, and reads back as
  // what it is, or was refused with a message that helps; otherwise what is wrong with that.
  std::string (*check)(const std::string& path, const std::string& text);
};

const std::vector<Reader>& Readers();

// What is wrong with the message of an error in the file at `path`; "": nothing.
std::string MessageFault(const std::string& message, const std::string& path);
// Whether a text has words of a library; "": it has none.
std::string LibraryFault(const std::string& text);
// What is wrong with anything that a user gets to see, control characters included; "": nothing.
std::string TextFault(const std::string& text);

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_FUZZ_READERS_H_
