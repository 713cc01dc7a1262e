// Names that say nothing, in the order of those that they stand for.
#ifndef SCHEDSIM_SIM_FORMATS_REDACT_PSEUDONYMS_H_
#define SCHEDSIM_SIM_FORMATS_REDACT_PSEUDONYMS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::sim {

// A text is cut at all that is no letter and no digit, and each part has a pseudonym: `web-6d4-x7` may become
// `xac-bab-xae`. So what is made of another name stays made of its pseudonym, as a pod's name of its
// ReplicaSet's, and nearly always the pseudonyms are in the order of the texts. A pseudonym is the place of
// the part among all parts, in letters of one length: nothing leads back from it. With a key, some letters of
// HMAC-SHA-256 follow, which are the same for the same part in another input.
class Pseudonyms {
 public:
  // `keep`: texts that stay as they are, beside those that Kubernetes itself gives names to.
  Pseudonyms(std::string key, const std::vector<std::string>& keep);

  // First each text is noted, then Freeze gives out the pseudonyms.
  void Note(absl::string_view text);
  // Names of StatefulSets: behind them, a number stays a number, since the order of its pods is that of
  // these.
  void NoteStatefulSet(absl::string_view name) { stateful_sets_.insert(std::string(name)); }
  // uids have pseudonyms of their own, `xuid-000017`.
  void NoteUid(absl::string_view uid) { uids_.emplace(uid, 0); }
  void Freeze();

  // Of a text that was noted. Those that stay are returned as they are.
  std::string Of(absl::string_view text) const;
  std::string OfUid(absl::string_view uid) const;
  bool IsKept(absl::string_view text) const { return keep_.find(text) != keep_.end(); }
  // What the user keeps, and no text that was noted is or has as a part.
  const std::set<std::string, std::less<>>& unmet_keep() const { return unmet_keep_; }

 private:
  std::string CodeOf(absl::string_view part, size_t place, size_t letters) const;
  // Letters of the text's hash; "": there is no key.
  std::string KeyLettersOf(absl::string_view text) const;
  // The StatefulSet of whose pod, or of whose pod's claim, the number at `at` is the ordinal; "": it is none.
  absl::string_view SetBefore(absl::string_view text, size_t at) const;
  std::string ByParts(absl::string_view text) const;
  // For a text whose pseudonym by parts is too long.
  std::string AsWhole(absl::string_view text) const;
  // The name of a pod or claim of a StatefulSet, made of the set's pseudonym; `is_member` says whether it is
  // one.
  std::string OfSetMember(absl::string_view text, bool& is_member) const;

  const std::string key_;
  std::set<std::string, std::less<>> keep_;
  std::set<std::string, std::less<>> stateful_sets_;
  std::set<std::string, std::less<>> kept_parts_;
  std::set<std::string, std::less<>> unmet_keep_;
  std::map<std::string, std::string, std::less<>> parts_;
  // Whole texts, for those whose pseudonym by parts is longer than a label may be.
  std::map<std::string, size_t, std::less<>> texts_;
  std::map<std::string, size_t, std::less<>> uids_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_REDACT_PSEUDONYMS_H_
