#include "sim/formats/cluster_files.h"

#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "sim/formats/archive.h"
#include "sim/formats/etcd/bolt_file.h"
#include "sim/formats/etcd/etcd_snapshot.h"

namespace schedsim::sim {
namespace {

// An archive may lie in an archive, and so on.
constexpr int kArchiveDepthMax = 2;

constexpr char kLogsStart[] = "\n==== START logs for container ";
constexpr char kLogsEnd[] = "\n==== END logs for container ";

// `kubectl cluster-info dump` writes the logs of containers between its lists.
void RemoveLogs(std::string& text) {
  size_t start = text.find(kLogsStart);
  if (start == std::string::npos) return;
  std::string lists;
  size_t copied = 0;
  while (start != std::string::npos) {
    lists.append(text, copied, start + 1 - copied);
    const size_t end = text.find(kLogsEnd, start);
    copied = end == std::string::npos ? text.size() : text.find('\n', end + 1);
    if (copied == std::string::npos) copied = text.size();
    start = text.find(kLogsStart, copied);
  }
  lists.append(text, copied, std::string::npos);
  text = std::move(lists);
}

// Whether a file of an archive or a folder may have objects in it.
bool IsClusterFile(absl::string_view name) {
  name = codec::WithoutArchiveEnding(name);
  constexpr absl::string_view kEndings[] = {".yaml", ".yml", ".json", ".db"};
  for (const absl::string_view ending : kEndings) {
    if (absl::EndsWith(name, ending)) return true;
  }
  return false;
}

// The part of a support bundle that has the objects: others are answers of a collector.
constexpr absl::string_view kBundleFolder = "cluster-resources/";
// What troubleshoot.sh puts beside them that is no object.
bool IsBundleExtra(absl::string_view name) {
  return absl::StrContains(name, "/auth-cani-list/") || absl::EndsWith(name, "-errors.json") ||
         absl::EndsWith(name, "/groups.json") || absl::EndsWith(name, "/resources.json");
}

}  // namespace

absl::Status ClusterFiles::Read(absl::string_view path, const codec::ReadOptions& options, Sink sink) {
  options_ = options;
  std::vector<std::string> files;
  ASSIGN_OR_RETURN(files, codec::ListFiles(path));
  size_t fine = 0;
  for (const std::string& file : files) {
    absl::StatusOr<std::string> content = codec::ReadFile(file);
    absl::Status status = content.status();
    if (status.ok())
      status = ReadContent(*std::move(content), file == "-" ? "stdin" : file, /*depth=*/0, sink);
    if (!status.ok()) {
      if (files.size() == 1) return status;
      return absl::Status(status.code(), absl::StrCat(status.message(), " (", fine, " of ", files.size(),
                                                      " files were read)"));
    }
    ++fine;
  }
  return absl::OkStatus();
}

absl::Status ClusterFiles::ReadContent(std::string content, absl::string_view file, int depth, Sink sink) {
  if (BoltFile::IsOne(content)) return ReadDatabase(content, file, sink);
  if (IsArchive(content)) {
    if (depth == kArchiveDepthMax) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": archives within archives, expected at most ", kArchiveDepthMax));
    }
    return ReadFiles(file, content, depth, sink);
  }
  RemoveLogs(content);
  return codec::ReadKeptText(content, file, options_,
                             [&](const codec::Document& document) { return sink(document, file); });
}

absl::Status ClusterFiles::ReadDatabase(absl::string_view content, absl::string_view file, Sink sink) {
  EtcdSnapshotNotes notes;
  RETURN_IF_ERROR(ReadEtcdSnapshot(
      content, file, [&](const codec::Document& document) { return sink(document, file); }, notes));
  if (notes.unreadable_count > 0) {
    const size_t more = static_cast<size_t>(notes.unreadable_count) - notes.unreadable.size();
    warnings_.push_back(
        absl::StrCat(file, ": ", notes.unreadable_count, notes.unreadable_count == 1 ? " object" : " objects",
                     " can't be read and are left out: ", absl::StrJoin(notes.unreadable, "; "),
                     more > 0 ? absl::StrCat("; and ", more, " more") : ""));
  }
  return absl::OkStatus();
}

absl::Status ClusterFiles::ReadFiles(absl::string_view archive, absl::string_view content, int depth,
                                     Sink sink) {
  bool is_bundle = false;
  RETURN_IF_ERROR(ReadArchive(
      content, archive,
      [&is_bundle](absl::string_view name) {
        is_bundle = is_bundle || absl::StrContains(name, kBundleFolder);
        return false;
      },
      [](absl::string_view, std::string) { return absl::OkStatus(); }));
  int64_t count = 0;
  const auto wants = [is_bundle](absl::string_view name) {
    if (is_bundle && (!absl::StrContains(name, kBundleFolder) || IsBundleExtra(name))) return false;
    return IsClusterFile(name);
  };
  const auto take = [&](absl::string_view name, std::string packed) -> absl::Status {
    const std::string label = absl::StrCat(archive, "!", Printable(name));
    std::string plain;
    ASSIGN_OR_RETURN(plain, codec::Decompress(std::move(packed), label));
    const absl::Status status = ReadContent(std::move(plain), label, depth + 1, sink);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(status.message(), " (", count, " other files were read)"));
    }
    ++count;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ReadArchive(content, archive, wants, take));
  if (count > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      archive, ": no files of objects in it, expected some that end in .yaml, .yml, .json or .db"));
}

}  // namespace schedsim::sim
