// Regular expressions as Go's package regexp has them.
#ifndef SCHEDSIM_SIM_TEMPLATES_GO_REGEX_H_
#define SCHEDSIM_SIM_TEMPLATES_GO_REGEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace re2 {
class RE2;
}

namespace schedsim::sim {

// RE2 reads and runs them; Go's syntax is that of RE2, without `\C` and with `(?<name>...)`. Texts have to be
// UTF-8. Source: go1.26, regexp/regexp.go.
class GoRegex {
 public:
  // InvalidArgument: no regular expression, or one that takes too much memory.
  static absl::StatusOr<GoRegex> Compile(absl::string_view pattern);
  GoRegex(GoRegex&&) noexcept;
  GoRegex& operator=(GoRegex&&) noexcept;
  ~GoRegex();

  bool Matches(absl::string_view text) const;
  // The first `count` matches, from left to right, none over another; all of them where it is negative. They
  // are parts of `text`.
  std::vector<absl::string_view> FindAll(absl::string_view text, int64_t count) const;
  // The parts between the matches, `count` at most, the last of which is the rest; all of them where it is
  // negative.
  std::vector<absl::string_view> Split(absl::string_view text, int64_t count) const;
  // `text` with `replacement` in the place of each match. In it `$1`, `$name` and `${name}` are what a group
  // matched, and `$$` is a `$`. ResourceExhausted: more than `size_max` bytes.
  absl::StatusOr<std::string> ReplaceAll(absl::string_view text, absl::string_view replacement,
                                         size_t size_max) const;
  // The same, but `replacement` stands for itself.
  absl::StatusOr<std::string> ReplaceAllLiteral(absl::string_view text, absl::string_view replacement,
                                                size_t size_max) const;

  // A pattern that matches `text` alone.
  static std::string QuoteMeta(absl::string_view text);

 private:
  // The whole match, then the groups. What a group did not match has no data.
  using Groups = std::vector<absl::string_view>;

  explicit GoRegex(std::unique_ptr<re2::RE2> regex);
  // The first match at or after `position`; empty: there is none.
  Groups FindAt(absl::string_view text, size_t position) const;
  // What a name after a `$` stands for.
  absl::string_view GroupNamed(absl::string_view name, const Groups& groups) const;
  std::string Expand(absl::string_view replacement, const Groups& groups) const;
  template <typename Replacement>
  absl::StatusOr<std::string> Replace(absl::string_view text, size_t size_max,
                                      const Replacement& replacement) const;

  std::unique_ptr<re2::RE2> regex_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_TEMPLATES_GO_REGEX_H_
