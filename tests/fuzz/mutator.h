// Broken versions of good input, for fuzz tests.
#ifndef SCHEDSIM_TESTS_FUZZ_MUTATOR_H_
#define SCHEDSIM_TESTS_FUZZ_MUTATOR_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/rng.h"

namespace schedsim {

// Knows words, literals, numbers, brackets and indented blocks, as YAML, JSON and command lines have them, so
// that most of what it makes still parses and reaches what lies behind the parser. What it draws depends on
// the seed alone.
class Mutator {
 public:
  // `seeds` is good input; its words stand in for others. It must outlive the mutator and not be empty.
  explicit Mutator(const std::vector<std::string>& seeds);

  // One of the seeds with one to six changes: words deleted, doubled, swapped or replaced; numbers at the
  // ends of their ranges; other types; blocks deleted, doubled, moved or put elsewhere; text cut off; noise.
  std::string Make(Rng& rng) const;

 private:
  // A part of a text.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  static std::vector<Range> Words(absl::string_view text);
  static Range BracketsFrom(absl::string_view text, size_t open);
  static Range BlockOf(absl::string_view text, size_t position);
  std::string RandomWord(Rng& rng) const;
  // A block or value in brackets of a seed.
  std::string RandomPart(Rng& rng) const;
  void Change(Rng& rng, std::string& text) const;
  void ChangeWord(Rng& rng, std::string& text) const;
  void ChangePart(Rng& rng, std::string& text) const;
  static void ChangeBytes(Rng& rng, std::string& text);

  const std::vector<std::string>& seeds_;
  std::vector<std::string> words_;  // Of all seeds, each once.
};

}  // namespace schedsim

#endif  // SCHEDSIM_TESTS_FUZZ_MUTATOR_H_
