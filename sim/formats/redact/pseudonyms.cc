#include "sim/formats/redact/pseudonyms.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
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
// A label's value, and a part of a name between dots, may have so many bytes, and a name so many.
constexpr size_t kLabelBytesMax = 63;
constexpr size_t kNameBytesMax = 253;
// What follows the name of a StatefulSet, in the names of its pods, is shorter than the rest.
constexpr size_t kSetBytesMax = 50;

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

bool HasOnePart(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsPartCharacter);
}

// Images have registries and tags, and no bound that matters.
bool IsImage(absl::string_view text) { return text.find_first_of("/:") != absl::string_view::npos; }

absl::string_view NumberAt(absl::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsPartCharacter(text[end])) ++end;
  return text.substr(at, end - at);
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
  unmet_keep_.insert(keep.begin(), keep.end());
  // Names that are made of a text that stays have it as a part.
  const auto keep_part = [this](absl::string_view part, size_t) { kept_parts_.emplace(part); };
  for (const std::string& text : keep) ForEachPart(text, keep_part, [](absl::string_view) {});
  for (const absl::string_view text : kKeptTexts)
    if (HasOnePart(text)) kept_parts_.emplace(text);
}

void Pseudonyms::Note(absl::string_view text) {
  const auto meet = [this](absl::string_view met) {
    const auto found = unmet_keep_.find(met);
    if (found != unmet_keep_.end()) unmet_keep_.erase(found);
  };
  meet(text);
  if (IsKept(text)) return;
  texts_.emplace(text, 0);
  ForEachPart(
      text,
      [&](absl::string_view part, size_t) {
        meet(part);
        parts_.emplace(part, "");
      },
      [](absl::string_view) {});
}

void Pseudonyms::Freeze() {
  const size_t letters = LettersFor(parts_.size());
  size_t place = 0;
  for (auto& [part, code] : parts_) {
    code = CodeOf(part, place++, letters);
    if (kept_parts_.find(part) != kept_parts_.end()) code = part;
  }
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
  return code + KeyLettersOf(part);
}

std::string Pseudonyms::KeyLettersOf(absl::string_view text) const {
  std::string letters;
  if (key_.empty()) return letters;
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int hash_bytes = 0;
  CHECK(HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash, &hash_bytes) != nullptr);
  for (size_t i = 0; i < kKeyLetters; ++i) letters.push_back(static_cast<char>('a' + hash[i] % kLetterCount));
  return letters;
}

absl::string_view Pseudonyms::SetBefore(absl::string_view text, size_t at) const {
  if (at < 2 || text[at - 1] != '-') return "";
  const absl::string_view number = NumberAt(text, at);
  const size_t end = at + number.size();
  if (!IsDigits(number) || (end < text.size() && text[end] != '-')) return "";
  // The set's name alone, or with that of a claim's template in front.
  absl::string_view rest = text.substr(0, at - 1);
  while (true) {
    if (stateful_sets_.find(rest) != stateful_sets_.end()) return rest;
    const size_t dash = rest.find('-');
    if (dash == absl::string_view::npos) return "";
    rest.remove_prefix(dash + 1);
  }
}

std::string Pseudonyms::ByParts(absl::string_view text) const {
  std::string out;
  ForEachPart(
      text,
      [&](absl::string_view part, size_t at) {
        // An image without a tag is one with this tag.
        const bool is_tag = part == "latest" && at > 0 && text[at - 1] == ':';
        if (is_tag || !SetBefore(text, at).empty()) {
          absl::StrAppend(&out, part);
          return;
        }
        const auto found = parts_.find(part);
        CHECK(found != parts_.end());
        absl::StrAppend(&out, found->second);
      },
      [&out](absl::string_view separators) { absl::StrAppend(&out, separators); });
  return out;
}

std::string Pseudonyms::AsWhole(absl::string_view text) const {
  const auto whole = texts_.find(text);
  CHECK(whole != texts_.end());
  return absl::StrCat(absl::StrFormat("%cw%08d", FirstLetter(text), whole->second), KeyLettersOf(text));
}

// The last set in the text before a number: what is before it, and what is behind it, is replaced by parts.
std::string Pseudonyms::OfSetMember(absl::string_view text, bool& is_member) const {
  is_member = false;
  for (size_t at = text.rfind('-'); at != absl::string_view::npos && at > 0; at = text.rfind('-', at - 1)) {
    const absl::string_view set = SetBefore(text, at + 1);
    if (set.empty()) continue;
    is_member = true;
    const size_t begin = static_cast<size_t>(set.data() - text.data());
    return absl::StrCat(ByParts(text.substr(0, begin)), Of(set), "-", NumberAt(text, at + 1),
                        ByParts(text.substr(at + 1 + NumberAt(text, at + 1).size())));
  }
  return "";
}

std::string Pseudonyms::Of(absl::string_view text) const {
  if (IsKept(text)) return std::string(text);
  const bool is_set = stateful_sets_.find(text) != stateful_sets_.end();
  bool is_member = false;
  std::string out = is_set ? "" : OfSetMember(text, is_member);
  if (!is_member) out = ByParts(text);
  size_t limit = kLabelBytesMax;
  if (is_set) limit = kSetBytesMax;
  // Claims of a set, unlike its pods, may have longer names.
  if (!is_set && (is_member || IsImage(text) || text.size() > kLabelBytesMax)) limit = kNameBytesMax;
  return out.size() <= limit ? out : AsWhole(text);
}

std::string Pseudonyms::OfUid(absl::string_view uid) const {
  const auto found = uids_.find(uid);
  CHECK(found != uids_.end());
  return absl::StrFormat("xuid-%06d", found->second);
}

}  // namespace schedsim::sim
