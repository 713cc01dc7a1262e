#include "sim/formats/cluster_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "sim/formats/archive.h"
#include "sim/formats/etcd/bolt_file.h"
#include "sim/formats/etcd/etcd_snapshot.h"
#include "sim/formats/prometheus_samples.h"

namespace schedsim::sim {
namespace {

// An archive may lie in an archive, and so on.
constexpr int kArchiveDepthMax = 2;

constexpr absl::string_view kLogsStart = "==== START logs for container ";
constexpr absl::string_view kLogsEnd = "==== END logs for container ";

// Where a line begins so, at or behind `at`; npos: none does. A search for the line break as well would stop
// at each line.
size_t FindLine(absl::string_view text, absl::string_view begin, size_t at) {
  for (at = text.find(begin, at); at != absl::string_view::npos; at = text.find(begin, at + 1)) {
    if (at > 0 && text[at - 1] == '\n') return at;
  }
  return at;
}

// `kubectl cluster-info dump` writes the logs of containers between its lists. They become empty lines, so
// that places in the rest stay what they are.
absl::Status RemoveLogs(std::string& text, absl::string_view file) {
  size_t start = FindLine(text, kLogsStart, 0);
  if (start == std::string::npos) return absl::OkStatus();
  std::string lists;
  size_t copied = 0;
  while (start != std::string::npos) {
    lists.append(text, copied, start - copied);
    const size_t end = FindLine(text, kLogsEnd, start);
    const size_t line_end = end == std::string::npos ? end : text.find('\n', end);
    if (line_end == std::string::npos) {
      const absl::string_view line = absl::string_view(text).substr(start, text.find('\n', start) - start);
      const auto lines = std::count(text.begin(), text.begin() + static_cast<int64_t>(start), '\n');
      return absl::InvalidArgumentError(absl::StrCat(file, ":", 1 + lines, ": the logs that begin with `",
                                                     Printable(line, kShownBytesMax),
                                                     "` have no end: the dump was cut off"));
    }
    const absl::string_view logs = absl::string_view(text).substr(start, line_end - start);
    lists.append(static_cast<size_t>(std::count(logs.begin(), logs.end(), '\n')), '\n');
    copied = line_end;
    start = FindLine(text, kLogsStart, copied);
  }
  lists.append(text, copied, std::string::npos);
  text = std::move(lists);
  return absl::OkStatus();
}

// Which files of an archive or a folder have objects in them. Support bundles of troubleshoot.sh are folders
// with version.yaml and cluster-resources: what lies in the latter are the objects, other files are answers
// of collectors.
class ObjectFiles {
 public:
  // By all names of the archive or folder, which must outlive the object.
  explicit ObjectFiles(const std::vector<std::string>& names) {
    std::set<absl::string_view> roots;
    for (const absl::string_view name : names) {
      absl::string_view root = name;
      const bool is_version = absl::ConsumeSuffix(&root, "version.yaml");
      if (is_version && (root.empty() || root.back() == '/')) roots.insert(root);
    }
    if (roots.empty()) return;
    for (const absl::string_view name : names) {
      const size_t at = name.find(kFolder);
      if (at != absl::string_view::npos && roots.count(name.substr(0, at)) > 0)
        bundles_.insert(name.substr(0, at));
    }
  }

  bool Has(absl::string_view name) const {
    if (!codec::IsInputFile(name, codec::InputFiles::kAll)) return false;
    const std::optional<absl::string_view> place = PlaceInBundle(name);
    return !place.has_value() || (absl::StartsWith(*place, kFolder) && !IsNoObject(*place));
  }

  // Whether it says which version the API server has.
  bool IsVersion(absl::string_view name) const { return PlaceInBundle(name) == kVersionFile; }

 private:
  static constexpr absl::string_view kFolder = "cluster-resources/";
  static constexpr absl::string_view kVersionFile = "cluster-info/cluster_version.json";

  // The rest of the name within the outermost bundle that it lies in.
  std::optional<absl::string_view> PlaceInBundle(absl::string_view name) const {
    if (bundles_.empty()) return std::nullopt;
    size_t at = 0;
    while (bundles_.count(name.substr(0, at)) == 0) {
      const size_t slash = name.find('/', at);
      if (slash == absl::string_view::npos) return std::nullopt;
      at = slash + 1;
    }
    return name.substr(at);
  }

  // What troubleshoot.sh puts beside the objects.
  static bool IsNoObject(absl::string_view name) {
    return absl::StrContains(name, "/auth-cani-list/") || absl::EndsWith(name, "-errors.json") ||
           absl::EndsWith(name, "/groups.json") || absl::EndsWith(name, "/resources.json");
  }

  std::set<absl::string_view> bundles_;  // Their folders with a slash, or "".
};

// What files begin with that are no input; the text says what they are.
struct BinaryKind {
  absl::string_view begin;
  absl::string_view what;
};

constexpr BinaryKind kBinaryKinds[] = {
    {absl::string_view("k8s\0", 4), "one object in protobuf, as etcd stores it"},
    {"SQLite format 3", "a database of SQLite"},
    {"\x1f\x8b", "another gzip file within the file"},
    {absl::string_view("\xfd\x37zXZ\0", 6), "another xz file within the file"},
    {"\x28\xb5\x2f\xfd", "another zstd file within the file"},
    {"BZh", "a bzip2 file"},
    {"\x04\x22\x4d\x18", "an lz4 file"},
    {"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"},
    {"Rar!\x1a\x07", "a RAR archive"},
    {"PK\x05\x06", "an empty zip archive"},
    {"\x7f"
     "ELF",
     "a program (ELF)"},
    {"\xcf\xfa\xed\xfe", "a program (Mach-O)"},
    {"MZ", "a program of Windows"},
    {"\x89PNG", "an image (PNG)"},
    {"\xff\xd8\xff", "an image (JPEG)"},
    {"%PDF-", "a PDF document"},
    {"PAR1", "a Parquet file"},
    {absl::string_view("\0\x05\x16\x07", 4), "what macOS puts beside a file (AppleDouble)"},
};

// InvalidArgument for bytes that are no text.
absl::Status CheckIsText(absl::string_view content, absl::string_view file) {
  constexpr size_t kLookBytes = 8192;
  const absl::string_view start = content.substr(0, kLookBytes);
  // Text of other encodings, which the reader names, has such bytes, too.
  const bool has_mark = absl::StartsWith(start, "\xff\xfe") || absl::StartsWith(start, "\xfe\xff") ||
                        absl::StartsWith(start, absl::string_view("\0\0\xfe\xff", 4));
  const auto is_control = [](char c) {
    return (c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
  };
  // One or two in a text have a place, which the reader names.
  const bool is_binary =
      std::count_if(start.begin(), start.end(), is_control) * 10 > static_cast<int64_t>(start.size()) &&
      !has_mark;
  absl::string_view what = is_binary ? "other binary data" : "";
  for (const BinaryKind& kind : kBinaryKinds) {
    // Two letters begin a text as well.
    const bool counts =
        is_binary || kind.begin.size() > 2 || static_cast<unsigned char>(kind.begin[0]) < 0x20;
    if (counts && absl::StartsWith(start, kind.begin)) what = kind.what;
  }
  if (what.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      file, ": looks like ", what, ", expected YAML, JSON, a database of etcd or an archive (tar, zip)"));
}

}  // namespace

absl::Status ClusterFiles::Read(absl::string_view path, const codec::ReadOptions& options, Sink sink) {
  options_ = options;
  std::vector<std::string> files;
  ASSIGN_OR_RETURN(files, codec::ListFiles(path, codec::InputFiles::kAll));
  // A file that is given by its name is read whatever that is.
  if (files.size() > 1) {
    const std::vector<std::string> all = std::move(files);
    const ObjectFiles objects(all);
    files.clear();
    for (const std::string& file : all) {
      if (objects.Has(file)) files.push_back(file);
      if (!objects.IsVersion(file)) continue;
      if (absl::StatusOr<std::string> content = codec::ReadFile(file); content.ok())
        ReadVersion(*std::move(content), file);
    }
  }
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
  if (IsArchive(content)) {
    if (depth == kArchiveDepthMax) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": archives within archives, expected at most ", kArchiveDepthMax));
    }
    return ReadFiles(file, content, depth, sink);
  }
  // A tar may have a database at the place of its second page.
  if (BoltFile::IsOne(content)) return ReadDatabase(content, file, sink);
  RETURN_IF_ERROR(CheckIsText(content, file));
  RETURN_IF_ERROR(RemoveLogs(content, file));
  if (HasPrometheusSamples(content)) {
    ASSIGN_OR_RETURN(content, NodeMetricsOfSamples(content, file));
  }
  std::map<std::string, int64_t> item_counts;
  auto last_kind = item_counts.end();
  RETURN_IF_ERROR(codec::ReadKeptText(content, file, options_, [&](const codec::Document& document) {
    if (!document.list_kind.empty()) {
      // Items of one list stand together.
      if (last_kind == item_counts.end() || last_kind->first != document.list_kind)
        last_kind = item_counts.emplace(document.list_kind, 0).first;
      ++last_kind->second;
    }
    return sink(document, file);
  }));
  cut_lists_.Look(content, file, item_counts);
  return absl::OkStatus();
}

absl::Status ClusterFiles::ReadDatabase(absl::string_view content, absl::string_view file, Sink sink) {
  EtcdSnapshotNotes notes;
  RETURN_IF_ERROR(ReadEtcdSnapshot(
      content, file, [&](const codec::Document& document) { return sink(document, file); }, notes));
  if (notes.unreadable_count > 0) {
    const size_t more = static_cast<size_t>(notes.unreadable_count) - notes.unreadable.size();
    warnings_.push_back(absl::StrCat(
        file, ": ", notes.unreadable_count,
        notes.unreadable_count == 1 ? " object can't be read and is" : " objects can't be read and are",
        " left out: ", absl::StrJoin(notes.unreadable, "; "),
        more > 0 ? absl::StrCat("; and ", more, " more") : ""));
  }
  return absl::OkStatus();
}

std::vector<std::string> ClusterFiles::warnings() const {
  std::vector<std::string> warnings = warnings_;
  for (std::string& warning : cut_lists_.Warnings()) warnings.push_back(std::move(warning));
  return warnings;
}

// What can't be read says nothing.
void ClusterFiles::ReadVersion(std::string content, absl::string_view file) {
  const absl::Status ignored =
      codec::ReadText(std::move(content), "version.json", {}, [&](const codec::Document& document) {
        const codec::Value* const info = document.root.Find("info");
        const codec::Value* const version = info == nullptr ? nullptr : info->Find("gitVersion");
        if (version != nullptr && version->is_string()) {
          server_version_ = std::string(version->text);
          server_version_file_ = std::string(file);
        }
        return absl::OkStatus();
      });
  static_cast<void>(ignored);
}

absl::Status ClusterFiles::ReadFiles(absl::string_view archive, absl::string_view content, int depth,
                                     Sink sink) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(ReadArchive(
      content, archive,
      [&names](absl::string_view name) {
        names.emplace_back(name);
        return false;
      },
      [](absl::string_view, std::string) { return absl::OkStatus(); }));
  const ObjectFiles objects(names);
  int64_t count = 0;
  const auto take = [&](absl::string_view name, std::string packed) -> absl::Status {
    const std::string label = absl::StrCat(archive, "!", Printable(name));
    std::string plain;
    ASSIGN_OR_RETURN(plain, codec::Decompress(std::move(packed), label));
    if (objects.IsVersion(name)) {
      ReadVersion(std::move(plain), label);
      return absl::OkStatus();
    }
    const absl::Status status = ReadContent(std::move(plain), label, depth + 1, sink);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(status.message(), " (", count, " other files were read)"));
    }
    ++count;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ReadArchive(
      content, archive,
      [&objects](absl::string_view name) { return objects.Has(name) || objects.IsVersion(name); }, take));
  if (count > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(archive, ": no object files in it, expected names in ",
                                                    codec::InputFileEndings(codec::InputFiles::kAll)));
}

}  // namespace schedsim::sim
