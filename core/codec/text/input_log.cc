#include "core/codec/text/input_log.h"

#include <openssl/evp.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace schedsim::codec {
namespace {

InputLog*& Active() {
  thread_local InputLog* active = nullptr;
  return active;
}

absl::Status Invalid(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path == "-" ? "standard input" : path, ": ", what));
}

}  // namespace

InputLog::InputLog(const std::optional<std::vector<InputFile>>& expected) : outer_(Active()) {
  Active() = this;
  if (!expected.has_value()) return;
  expected_.emplace();
  for (const InputFile& file : *expected) expected_->emplace(file.path, file.sha256);
}

InputLog::~InputLog() { Active() = outer_; }

InputLog* InputLog::active() { return Active(); }

absl::Status InputLog::Note(absl::string_view path, absl::string_view bytes) {
  std::string sha256 = Sha256Hex(bytes);
  if (expected_.has_value() && expected_->count({std::string(path), sha256}) == 0) {
    const auto found = expected_->lower_bound({std::string(path), ""});
    if (found == expected_->end() || found->first != path)
      return Invalid(path, "is new: the run that is repeated did not read it");
    return Invalid(path, absl::StrCat("is not what the run that is repeated read: its SHA-256 is ", sha256,
                                      ", expected ", found->second));
  }
  const auto [place, is_new] = places_.try_emplace(std::string(path), files_.size());
  if (!is_new && files_[place->second].sha256 == sha256) return absl::OkStatus();
  place->second = files_.size();
  files_.push_back({.path = std::string(path), .sha256 = std::move(sha256)});
  return absl::OkStatus();
}

absl::Status InputLog::CheckComplete() const {
  if (!expected_.has_value()) return absl::OkStatus();
  for (const auto& [path, sha256] : *expected_) {
    if (places_.count(path) == 0)
      return Invalid(path, "is no input any more: the run that is repeated read it, this one did not");
  }
  return absl::OkStatus();
}

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), hash, &size, EVP_sha256(), nullptr) == 1);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(hash), size));
}

}  // namespace schedsim::codec
