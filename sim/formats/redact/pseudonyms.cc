#include "sim/formats/redact/pseudonyms.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/check.h"

namespace schedsim::sim {
namespace {

// Names that Kubernetes gives, and values that say nothing of a cluster.
constexpr absl::string_view kKeptTexts[] = {
    "",
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "kubernetes",
    "default-scheduler",
    "system-cluster-critical",
    "system-node-critical",
    "true",
    "false",
};

constexpr size_t kLetterCount = 26;
constexpr size_t kKeyLetters = 5;
// A label's value, and a part of a name between dots, may have so many bytes.
constexpr size_t kLabelBytesMax = 63;

bool IsPartCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0; }

// Calls visit(part, begin) for each part of the text, and skip(separators) for what is between them.
template <typename Visit, typename Skip>
void ForEachPart(absl::string_view text, Visit visit, Skip skip) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    const bool is_part = IsPartCharacter(text[at]);
    while (end < text.size() && IsPartCharacter(text[end]) == is_part) ++end;
    if (is_part) {
      visit(text.substr(at, end - at), at);
    } else {
      skip(text.substr(at, end - at));
    }
    at = end;
  }
}

// The first letter of a pseudonym is in the order of the parts as well, and none of those that stay begins
// with it: so the namespaces that stay keep their places.
char FirstLetter(absl::string_view part) {
  if (part < "a") return 'b';
  if (part < "default") return 'c';
  return part < "kube" ? 'h' : 'x';
}

bool IsDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// How many letters it takes to tell `count` things apart.
size_t LettersFor(size_t count) {
  size_t letters = 1;
  for (size_t reach = kLetterCount; reach < count; reach *= kLetterCount) ++letters;
  return letters;
}

}  // namespace

Pseudonyms::Pseudonyms(std::string key, const std::vector<std::string>& keep) : key_(std::move(key)) {
  for (const absl::string_view text : kKeptTexts) keep_.emplace(text);
  keep_.insert(keep.begin(), keep.end());
}

void Pseudonyms::Note(absl::string_view text) {
  if (IsKept(text)) return;
  texts_.emplace(text, 0);
  ForEachPart(
      text, [this](absl::string_view part, size_t) { parts_.emplace(part, ""); }, [](absl::string_view) {});
}

void Pseudonyms::Freeze() {
  const size_t letters = LettersFor(parts_.size());
  size_t place = 0;
  for (auto& [part, code] : parts_) code = CodeOf(part, place++, letters);
  place = 0;
  for (auto& [text, number] : texts_) number = place++;
  place = 0;
  for (auto& [uid, number] : uids_) number = place++;
}

std::string Pseudonyms::CodeOf(absl::string_view part, size_t place, size_t letters) const {
  std::string code(letters, 'a');
  for (size_t i = letters; i > 0; --i) {
    code[i - 1] = static_cast<char>('a' + place % kLetterCount);
    place /= kLetterCount;
  }
  code.insert(code.begin(), FirstLetter(part));
  if (key_.empty()) return code;
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int hash_bytes = 0;
  CHECK(HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
             reinterpret_cast<const unsigned char*>(part.data()), part.size(), hash, &hash_bytes) != nullptr);
  for (size_t i = 0; i < kKeyLetters; ++i) code.push_back(static_cast<char>('a' + hash[i] % kLetterCount));
  return code;
}

bool Pseudonyms::IsOrdinal(absl::string_view text, size_t at) const {
  if (at < 2 || text[at - 1] != '-' || !IsDigits(text.substr(at))) return false;
  // The set's name alone, or with that of a claim's template in front.
  absl::string_view rest = text.substr(0, at - 1);
  while (true) {
    if (stateful_sets_.find(rest) != stateful_sets_.end()) return true;
    const size_t dash = rest.find('-');
    if (dash == absl::string_view::npos) return false;
    rest.remove_prefix(dash + 1);
  }
}

std::string Pseudonyms::Of(absl::string_view text) const {
  if (IsKept(text)) return std::string(text);
  std::string out;
  ForEachPart(
      text,
      [&](absl::string_view part, size_t at) {
        // An image without a tag is one with this tag.
        const bool is_tag = part == "latest" && at > 0 && text[at - 1] == ':';
        if (is_tag || (at + part.size() == text.size() && IsOrdinal(text, at))) {
          absl::StrAppend(&out, part);
          return;
        }
        const auto found = parts_.find(part);
        CHECK(found != parts_.end());
        absl::StrAppend(&out, found->second);
      },
      [&out](absl::string_view separators) { absl::StrAppend(&out, separators); });
  if (out.size() <= kLabelBytesMax || text.size() > kLabelBytesMax) return out;
  const auto whole = texts_.find(text);
  CHECK(whole != texts_.end());
  return absl::StrFormat("%cw%08d", FirstLetter(text), whole->second);
}

std::string Pseudonyms::OfUid(absl::string_view uid) const {
  const auto found = uids_.find(uid);
  CHECK(found != uids_.end());
  return absl::StrFormat("xuid-%06d", found->second);
}

}  // namespace schedsim::sim
