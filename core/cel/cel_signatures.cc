#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "core/cel/cel_type.h"

namespace schedsim::cel {
namespace {

struct Row {
  absl::string_view function;
  bool is_member;
  absl::string_view arguments;
  absl::string_view result;
};

constexpr bool kGlobal = false;
constexpr bool kMember = true;

constexpr absl::string_view kQ = "kubernetes.Quantity";
constexpr absl::string_view kS = "kubernetes.Semver";

constexpr Row kOperators[] = {
    {"_?_:_", kGlobal, "bool, A, A", "A"},
    {"_&&_", kGlobal, "bool, bool", "bool"},
    {"_||_", kGlobal, "bool, bool", "bool"},
    {"!_", kGlobal, "bool", "bool"},
    {"-_", kGlobal, "double", "double"},
    {"-_", kGlobal, "int", "int"},
    {"_==_", kGlobal, "A, A", "bool"},
    {"_!=_", kGlobal, "A, A", "bool"},
    {"_+_", kGlobal, "bytes, bytes", "bytes"},
    {"_+_", kGlobal, "double, double", "double"},
    {"_+_", kGlobal, "duration, duration", "duration"},
    {"_+_", kGlobal, "duration, timestamp", "timestamp"},
    {"_+_", kGlobal, "timestamp, duration", "timestamp"},
    {"_+_", kGlobal, "int, int", "int"},
    {"_+_", kGlobal, "list(A), list(A)", "list(A)"},
    {"_+_", kGlobal, "string, string", "string"},
    {"_+_", kGlobal, "uint, uint", "uint"},
    {"_-_", kGlobal, "double, double", "double"},
    {"_-_", kGlobal, "duration, duration", "duration"},
    {"_-_", kGlobal, "int, int", "int"},
    {"_-_", kGlobal, "timestamp, duration", "timestamp"},
    {"_-_", kGlobal, "timestamp, timestamp", "duration"},
    {"_-_", kGlobal, "uint, uint", "uint"},
    {"_*_", kGlobal, "double, double", "double"},
    {"_*_", kGlobal, "int, int", "int"},
    {"_*_", kGlobal, "uint, uint", "uint"},
    {"_/_", kGlobal, "double, double", "double"},
    {"_/_", kGlobal, "int, int", "int"},
    {"_/_", kGlobal, "uint, uint", "uint"},
    {"_%_", kGlobal, "int, int", "int"},
    {"_%_", kGlobal, "uint, uint", "uint"},
    {"_[_]", kGlobal, "list(A), int", "A"},
    {"_[_]", kGlobal, "map(A, B), A", "B"},
    {"_[_]", kGlobal, "optional_type(list(V)), int", "optional_type(V)"},
    {"_[_]", kGlobal, "optional_type(map(K, V)), K", "optional_type(V)"},
    {"_[?_]", kGlobal, "list(V), int", "optional_type(V)"},
    {"_[?_]", kGlobal, "optional_type(list(V)), int", "optional_type(V)"},
    {"_[?_]", kGlobal, "map(K, V), K", "optional_type(V)"},
    {"_[?_]", kGlobal, "optional_type(map(K, V)), K", "optional_type(V)"},
    {"@in", kGlobal, "A, list(A)", "bool"},
    {"@in", kGlobal, "A, map(A, B)", "bool"},
};

constexpr Row kStandard[] = {
    {"type", kGlobal, "A", "type(A)"},
    {"dyn", kGlobal, "A", "dyn"},
    {"bool", kGlobal, "bool", "bool"},
    {"bool", kGlobal, "string", "bool"},
    {"double", kGlobal, "double", "double"},
    {"double", kGlobal, "int", "double"},
    {"double", kGlobal, "string", "double"},
    {"double", kGlobal, "uint", "double"},
    {"duration", kGlobal, "duration", "duration"},
    {"duration", kGlobal, "string", "duration"},
    {"int", kGlobal, "int", "int"},
    {"int", kGlobal, "double", "int"},
    {"int", kGlobal, "duration", "int"},
    {"int", kGlobal, "string", "int"},
    {"int", kGlobal, "timestamp", "int"},
    {"int", kGlobal, "uint", "int"},
    {"string", kGlobal, "string", "string"},
    {"string", kGlobal, "bool", "string"},
    {"string", kGlobal, "double", "string"},
    {"string", kGlobal, "duration", "string"},
    {"string", kGlobal, "int", "string"},
    {"string", kGlobal, "timestamp", "string"},
    {"string", kGlobal, "uint", "string"},
    {"timestamp", kGlobal, "timestamp", "timestamp"},
    {"timestamp", kGlobal, "int", "timestamp"},
    {"timestamp", kGlobal, "string", "timestamp"},
    {"uint", kGlobal, "uint", "uint"},
    {"uint", kGlobal, "double", "uint"},
    {"uint", kGlobal, "int", "uint"},
    {"uint", kGlobal, "string", "uint"},
    {"contains", kMember, "string, string", "bool"},
    {"endsWith", kMember, "string, string", "bool"},
    {"startsWith", kMember, "string, string", "bool"},
    {"matches", kGlobal, "string, string", "bool"},
    {"matches", kMember, "string, string", "bool"},
    {"find", kMember, "string, string", "string"},
    {"findAll", kMember, "string, string", "list(string)"},
    {"findAll", kMember, "string, string, int", "list(string)"},
    {"charAt", kMember, "string, int", "string"},
    {"indexOf", kMember, "string, string", "int"},
    {"indexOf", kMember, "string, string, int", "int"},
    {"indexOf", kMember, "list(A), A", "int"},
    {"lastIndexOf", kMember, "string, string", "int"},
    {"lastIndexOf", kMember, "string, string, int", "int"},
    {"lastIndexOf", kMember, "list(A), A", "int"},
    {"lowerAscii", kMember, "string", "string"},
    {"upperAscii", kMember, "string", "string"},
    {"replace", kMember, "string, string, string", "string"},
    {"replace", kMember, "string, string, string, int", "string"},
    {"split", kMember, "string, string", "list(string)"},
    {"split", kMember, "string, string, int", "list(string)"},
    {"substring", kMember, "string, int", "string"},
    {"substring", kMember, "string, int, int", "string"},
    {"trim", kMember, "string", "string"},
    {"join", kMember, "list(string)", "string"},
    {"join", kMember, "list(string), string", "string"},
    {"sets.contains", kGlobal, "list(T), list(T)", "bool"},
    {"sets.equivalent", kGlobal, "list(T), list(T)", "bool"},
    {"sets.intersects", kGlobal, "list(T), list(T)", "bool"},
    {"slice", kMember, "list(T), int, int", "list(T)"},
    {"flatten", kMember, "list(list(T))", "list(T)"},
    {"flatten", kMember, "list(dyn), int", "list(dyn)"},
    {"lists.range", kGlobal, "int", "list(int)"},
    {"reverse", kMember, "list(T)", "list(T)"},
    {"distinct", kMember, "list(T)", "list(T)"},
    {"optional.of", kGlobal, "V", "optional_type(V)"},
    {"optional.ofNonZeroValue", kGlobal, "V", "optional_type(V)"},
    {"optional.none", kGlobal, "", "optional_type(V)"},
    {"value", kMember, "optional_type(V)", "V"},
    {"hasValue", kMember, "optional_type(V)", "bool"},
    {"or", kMember, "optional_type(V), optional_type(V)", "optional_type(V)"},
    {"orValue", kMember, "optional_type(V), V", "V"},
    {"first", kMember, "list(V)", "optional_type(V)"},
    {"last", kMember, "list(V)", "optional_type(V)"},
    {"optional.unwrap", kGlobal, "list(optional_type(V))", "list(V)"},
    {"unwrapOpt", kMember, "list(optional_type(V))", "list(V)"},
};

constexpr Row kKubernetes[] = {
    {"quantity", kGlobal, "string", kQ},
    {"isQuantity", kGlobal, "string", "bool"},
    {"sign", kGlobal, kQ, "int"},
    {"asApproximateFloat", kMember, kQ, "double"},
    {"asInteger", kMember, kQ, "int"},
    {"isInteger", kMember, kQ, "bool"},
    {"add", kMember, "kubernetes.Quantity, kubernetes.Quantity", kQ},
    {"add", kMember, "kubernetes.Quantity, int", kQ},
    {"sub", kMember, "kubernetes.Quantity, kubernetes.Quantity", kQ},
    {"sub", kMember, "kubernetes.Quantity, int", kQ},
    {"isGreaterThan", kMember, "kubernetes.Quantity, kubernetes.Quantity", "bool"},
    {"isLessThan", kMember, "kubernetes.Quantity, kubernetes.Quantity", "bool"},
    {"compareTo", kMember, "kubernetes.Quantity, kubernetes.Quantity", "int"},
    {"isGreaterThan", kMember, "kubernetes.Semver, kubernetes.Semver", "bool"},
    {"isLessThan", kMember, "kubernetes.Semver, kubernetes.Semver", "bool"},
    {"compareTo", kMember, "kubernetes.Semver, kubernetes.Semver", "int"},
    {"semver", kGlobal, "string", kS},
    {"semver", kGlobal, "string, bool", kS},
    {"isSemver", kGlobal, "string", "bool"},
    {"isSemver", kGlobal, "string, bool", "bool"},
    {"major", kMember, kS, "int"},
    {"minor", kMember, kS, "int"},
    {"patch", kMember, kS, "int"},
};

constexpr absl::string_view kOfTimestamps[] = {
    "getFullYear",  "getMonth", "getDayOfYear", "getDayOfMonth", "getDate",
    "getDayOfWeek", "getHours", "getMinutes",   "getSeconds",    "getMilliseconds"};
constexpr absl::string_view kOfDurations[] = {"getHours", "getMinutes", "getSeconds", "getMilliseconds"};

// Not built here. Source: as KubernetesCelSignatures.
constexpr absl::string_view kUnbuilt[] = {"bytes",
                                          "format",
                                          "strings.quote",
                                          "sort",
                                          "sortBy",
                                          "includes",
                                          "url",
                                          "isURL",
                                          "ip",
                                          "isIP",
                                          "cidr",
                                          "isCIDR",
                                          "ip.isCanonical",
                                          "format.named",
                                          "validate",
                                          "containsIP",
                                          "containsCIDR",
                                          "masked",
                                          "prefixLength",
                                          "family",
                                          "isUnspecified",
                                          "isLoopback",
                                          "getScheme",
                                          "getHost",
                                          "getHostname",
                                          "getPort",
                                          "getEscapedPath",
                                          "getQuery",
                                          "cel.@mapInsert",
                                          "transformMapEntry",
                                          "isGlobalUnicast"};

CelSignatures MakeSignatures() {
  CelSignatures made;
  const auto add = [&made](const Row& row) {
    made.Add(row.function, row.is_member, row.arguments, row.result);
  };
  for (const Row& row : kOperators) add(row);
  constexpr absl::string_view kComparable[] = {
      "bool",   "int, int",    "int, double",  "int, uint", "uint",  "uint, double", "uint, int",
      "double", "double, int", "double, uint", "string",    "bytes", "timestamp",    "duration"};
  for (const absl::string_view name : {"_<_", "_<=_", "_>_", "_>=_"}) {
    for (const absl::string_view types : kComparable) {
      const bool is_pair = types.find(',') != absl::string_view::npos;
      made.Add(name, kGlobal, is_pair ? std::string(types) : absl::StrCat(types, ", ", types), "bool");
    }
  }
  for (const absl::string_view type : {"bytes", "list(A)", "map(A, B)", "string"}) {
    made.Add("size", kGlobal, type, "int");
    made.Add("size", kMember, type, "int");
  }
  for (const Row& row : kStandard) add(row);
  for (const absl::string_view type :
       {"int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"}) {
    const std::string list = absl::StrCat("list(", type, ")");
    made.Add("isSorted", kMember, list, "bool");
    made.Add("max", kMember, list, type);
    made.Add("min", kMember, list, type);
  }
  for (const absl::string_view type : {"int", "uint", "double", "duration"}) {
    made.Add("sum", kMember, absl::StrCat("list(", type, ")"), type);
  }
  for (const Row& row : kKubernetes) add(row);
  for (const absl::string_view name : kOfTimestamps) made.Add(name, kMember, "timestamp", "int");
  for (const absl::string_view name : kOfDurations) made.Add(name, kMember, "duration", "int");
  return made;
}

}  // namespace

const CelSignatures& KubernetesCelSignatures() {
  static const auto* const kSignatures = new CelSignatures(MakeSignatures());
  return *kSignatures;
}

bool IsUnbuiltCelFunction(absl::string_view function, bool is_member, size_t arguments) {
  // With a time zone.
  if (is_member && arguments == 2 &&
      std::find(std::begin(kOfTimestamps), std::end(kOfTimestamps), function) != std::end(kOfTimestamps)) {
    return true;
  }
  return std::find(std::begin(kUnbuilt), std::end(kUnbuilt), function) != std::end(kUnbuilt);
}

}  // namespace schedsim::cel
