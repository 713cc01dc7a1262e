// The tables of records: what is written can be read, and docs/trace.md says the same as they do.
#include "sim/record/records.h"

#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/rng.h"
#include "core/codec/text/input.h"
#include "gtest/gtest.h"
#include "sim/record/record_reader.h"
#include "sim/record/record_writer.h"
#include "sim/report/pod_story.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// ---- Reading what was written ----

constexpr char kCluster[] = R"(
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Node
metadata: {name: node-2}
status: {allocatable: {cpu: 3, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Pod
metadata: {name: low, namespace: default}
spec: {nodeName: node-1, containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: "any", namespace: default}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: high, namespace: default}
spec: {priority: 10, containers: [{name: c, image: i, resources: {requests: {cpu: 4}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: gated, namespace: default}
spec: {schedulingGates: [{name: wait}], containers: [{name: c, image: i}]}
)";

std::string Rewrite(const record::Record& record) {
  RecordWriter writer;
  return std::visit(
      [&](const auto& body) -> std::string {
        if constexpr (record::HasFields<std::decay_t<decltype(body)>>) {
          writer.Start(record.time, body);
          return writer.Finish(record.digest);
        }
        return "";
      },
      record.body);
}

TEST(RecordsTest, AreWrittenAsTheyWereRead) {
  SmallCluster cluster(kCluster);
  cluster.options.latency.pod_termination = absl::Seconds(1);
  cluster.DeletePod(30, "any");
  std::map<std::string, int> count_of_kind;
  for (const TraceLevel level : {TraceLevel::kFull, TraceLevel::kDecisions}) {
    cluster.options.trace_level = level;
    cluster.Run(60);
    const auto records = ReadRecords(cluster.records, "trace");
    ASSERT_TRUE(records.ok()) << records.status();
    ASSERT_EQ(records->list.size(), cluster.records.size());
    for (size_t i = 0; i < cluster.records.size(); ++i) {
      EXPECT_EQ(Rewrite(records->list[i]), cluster.records[i]);
      ++count_of_kind[std::string(records->list[i].kind)];
    }
  }
  for (const char* kind : {"attempt", "bind", "status", "event", "delete", "step", "gone", "registrations",
                           "move", "queue", "final"}) {
    EXPECT_GT(count_of_kind[kind], 0) << kind;
  }
}

TEST(RecordsTest, AGlanceSeesTimeKindAndPod) {
  SmallCluster cluster(kCluster);
  cluster.Run(60);
  RecordMemory memory;
  for (const std::string& line : cluster.records) {
    const auto record = ReadRecord(line, "trace", memory);
    const auto glance = GlanceAt(line);
    ASSERT_TRUE(record.ok() && glance.has_value()) << line;
    EXPECT_EQ(glance->time, record->time);
    EXPECT_EQ(glance->kind, record->kind);
    if (const auto* attempt = record->As<record::Attempt>()) {
      EXPECT_EQ(glance->pod, attempt->pod);
    }
    if (record->As<record::Queue>() != nullptr) {
      EXPECT_EQ(glance->pod, "");
    }
  }
  EXPECT_FALSE(GlanceAt(R"({"ev":"bind","t":0,"pod":"d/a"})").has_value());
  EXPECT_FALSE(GlanceAt(R"({"t":0,"ev":"bi\u006ed","pod":"d/a"})").has_value());
  EXPECT_FALSE(GlanceAt(R"({"t":0,"ev":"bind","pod":"d\u002fa"})").has_value());
  EXPECT_FALSE(GlanceAt(R"({"t":0)").has_value());
}

// ---- Reading what others wrote ----

TEST(RecordReaderTest, TakesMembersInAnyOrderAndIgnoresUnknownOnes) {
  RecordMemory memory;
  const auto record = ReadRecord(
      R"({"node": "n", "later": [{"x": 1}], "pod": "d/\u0061", "t": 0.5, "ev": "bind"})", "trace", memory);
  ASSERT_TRUE(record.ok()) << record.status();
  const auto* bind = record->As<record::Bind>();
  ASSERT_NE(bind, nullptr);
  EXPECT_EQ(bind->pod, "d/a");
  EXPECT_EQ(bind->node, "n");
  EXPECT_EQ(record->time, absl::Milliseconds(500));
  EXPECT_EQ(record->digest, "");
}

TEST(RecordReaderTest, TimesAreExactToTheMicrosecond) {
  RecordMemory memory;
  const struct {
    const char* number;
    absl::Duration time;
  } rows[] = {{"0", absl::ZeroDuration()},
              {"-0.004", absl::Milliseconds(-4)},
              {"0.000001", absl::Microseconds(1)},
              {"1e-06", absl::Microseconds(1)},
              {"-1.5E1", absl::Seconds(-15)},
              {"0.0000004", absl::ZeroDuration()},
              {"123456789012.123457", absl::Seconds(123456789012) + absl::Microseconds(123457)}};
  for (const auto& row : rows) {
    const std::string text = absl::StrCat(R"({"t":)", row.number, R"(,"ev":"later"})");
    const auto record = ReadRecord(text, "t:1", memory);
    ASSERT_TRUE(record.ok()) << record.status();
    EXPECT_EQ(record->time, row.time) << row.number;
    EXPECT_EQ(GlanceAt(text)->time, row.time) << row.number;
  }
}

TEST(RecordReaderTest, KindsThatAreNotKnownAreOther) {
  RecordMemory memory;
  const auto record = ReadRecord(R"({"t": 0, "ev": "later", "pod": 7})", "trace", memory);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_NE(record->As<record::Other>(), nullptr);
}

TEST(RecordReaderTest, NullIsAsGoodAsAbsent) {
  RecordMemory memory;
  const auto record = ReadRecord(
      R"({"t":0,"ev":"attempt","pod":"d/a","attempts":1,"postFilter":{"status":{"code":"Error","reasons":null}}})",
      "trace", memory);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_TRUE(record->As<record::Attempt>()->post_filter->status->reasons.empty());
}

TEST(RecordReaderTest, NamesPlaceFieldAndWhatWasExpected) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"{", "t:7:2: the text ends in a map that starts on line 1, expected `}`"},
      {R"({"t":0,"ev":"bind",})", "t:7:20: malformed JSON"},
      {R"({"t":0,"t":0,"ev":"bind"})", "t:7:8: "},
      {"{} {}", "t:7: expected one record of a trace on a line"},
      {"", "t:7: expected one record of a trace on a line"},
      {"[]", "t:7: expected a record of a trace: expected a map, got a list"},
      {"{}", "t:7: expected a record of a trace: t: missing"},
      {R"({"t":0})", "t:7: expected a record of a trace: ev: missing"},
      {R"({"t":"0","ev":"bind"})",
       "t:7: expected a record of a trace: t: expected a number of seconds, got a string"},
      {R"({"t":1e300,"ev":"bind"})",
       "t:7: expected a record of a trace: t: expected a number of seconds, got a number"},
      {R"({"t":0,"ev":"bind","pod":"d/a"})", "t:7: bind: node: missing, expected it in each such record"},
      {R"({"t":0,"ev":"bind","pod":"d/a","node":null})", "t:7: bind: node: missing"},
      {R"({"t":0,"ev":"bind","pod":1,"node":"n"})", "t:7: bind: pod: expected a string, got a number"},
      {R"({"t":0,"ev":"attempt","pod":"d/a","attempts":"x"})",
       "t:7: attempt: attempts: expected an integer, got a string"},
      {R"({"t":0,"ev":"attempt","pod":"d/a","attempts":1.5})",
       "t:7: attempt: attempts: expected an integer, got a number"},
      {R"({"t":0,"ev":"attempt","pod":"d/a","attempts":1,"filter":[{"node":"n"},{"node":"m","reasons":[1]}]})",
       "t:7: attempt: filter[1].reasons: expected a list of strings, got a number"},
      {R"({"t":0,"ev":"attempt","pod":"d/a","attempts":1,"failure":{"status":{"code":[]}}})",
       "t:7: attempt: failure.status.code: expected a string, got a list"},
      {R"({"t":0,"ev":"attempt","pod":"d/a","attempts":1,"scores":{"nodes":[],"raw":{"P":["1"]},"total":[]}})",
       "t:7: attempt: scores.raw.P: expected an integer, got a string"},
      {R"({"t":0,"ev":"final","pods":{"d/a":[]}})", "t:7: final: pods.d/a: expected a map, got a list"},
      {R"({"t":0,"ev":"final","pods":{"d/a":{"deleted":1}}})",
       "t:7: final: pods.d/a.deleted: expected true or false"},
  };
  for (const auto& row : rows) {
    RecordMemory memory;
    const auto record = ReadRecord(row.text, "t:7", memory);
    EXPECT_EQ(record.status().code(), absl::StatusCode::kInvalidArgument) << row.text;
    EXPECT_TRUE(absl::StartsWith(record.status().message(), row.error)) << record.status();
  }
}

TEST(RecordReaderTest, CountsTheRecordsOfAList) {
  const std::string good = R"({"t":0,"ev":"bind","pod":"d/a","node":"n"})";
  EXPECT_EQ(ReadRecords({good, good}, "t")->list.size(), 2U);
  EXPECT_EQ(ReadRecords({good, "{"}, "t").status().message(),
            "t: record 2:2: the text ends in a map that starts on line 1, expected `}`");
  EXPECT_EQ(ReadRecords({good, R"({"t":0,"ev":"gone","pod":1})"}, "t").status().message(),
            "t: record 2: gone: pod: expected a string, got a number");
  for (const std::string& rest : {std::string(), std::string(" ")}) {
    EXPECT_EQ(ReadRecords({good + good, rest}, "t").status().message(),
              "t: record 1: expected one record of a trace on a line");
  }
  EXPECT_EQ(ReadRecords({good, good.substr(0, 1) + "\n" + good.substr(1)}, "t")->list.size(), 2U);
}

// Text that was a record once: it is refused, or it is a record that is written and read again.
TEST(RecordReaderTest, SurvivesAnyText) {
  constexpr uint64_t kSeed = 1;
  constexpr int kCount = 20'000;
  SmallCluster cluster(kCluster);
  cluster.Run(60);
  Rng rng(kSeed);
  const auto below = [&rng](size_t bound) {
    return static_cast<size_t>(rng.Below(static_cast<int64_t>(bound)));
  };
  StoryTeller teller("default/high");
  RecordMemory memory;
  for (int i = 0; i < kCount; ++i) {
    std::string text = cluster.records[below(cluster.records.size())];
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t at = below(text.size());
      const absl::string_view kLetters = "{}[]:,\"\\0-e.tn\xff ";
      switch (below(4)) {
        case 0:
          text[at] = kLetters[below(kLetters.size())];
          break;
        case 1:
          text.insert(at, 1, kLetters[below(kLetters.size())]);
          break;
        case 2:
          text.erase(at, 1 + below(20));
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(40)));
      }
      if (text.empty()) text = "{";
    }
    SCOPED_TRACE(absl::StrCat("seed ", kSeed, ", change ", i, ": ", text));
    memory.Clear();
    const auto record = ReadRecord(text, "t:1", memory);
    (void)GlanceAt(text);
    (void)teller.Add(text, "t:1");
    if (!record.ok()) {
      ASSERT_TRUE(absl::StartsWith(record.status().message(), "t:1:")) << record.status();
      continue;
    }
    const std::string written = Rewrite(*record);
    if (written.empty()) continue;
    const auto again = ReadRecord(written, "t:1", memory);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(Rewrite(*again), written);
  }
}

// ---- docs/trace.md ----

struct Row {
  std::string name;
  std::string type;
  bool is_optional = false;
};

template <typename T>
struct TypeText;
template <>
struct TypeText<record::Text> {
  static constexpr char kText[] = "string";
};
template <>
struct TypeText<bool> {
  static constexpr char kText[] = "`true`";
};
template <>
struct TypeText<int64_t> {
  static constexpr char kText[] = "integer";
};
template <>
struct TypeText<absl::Duration> {
  static constexpr char kText[] = "number, seconds";
};
template <>
struct TypeText<record::Texts> {
  static constexpr char kText[] = "list of strings";
};
template <>
struct TypeText<record::Column> {
  static constexpr char kText[] = "list of integers";
};
template <>
struct TypeText<record::Status> {
  static constexpr char kText[] = "status";
};
template <typename S>
struct TypeText<std::vector<S>> {
  static constexpr char kText[] = "list";
};
template <typename T>
struct TypeText<record::Map<T>> {
  static constexpr char kText[] = "object: ";
};
template <typename T>
struct TypeText<std::optional<T>> : TypeText<T> {};
template <typename S>
requires record::HasFields<S>
struct TypeText<S> {
  static constexpr char kText[] = "object";
};

using Documentation = std::map<std::string, std::vector<Row>>;

template <typename S>
std::vector<Row> RowsOf() {
  std::vector<Row> rows;
  const auto add = [&rows]<typename F>(const F& field) {
    using T = std::decay_t<decltype(std::declval<S>().*field.member)>;
    rows.push_back({.name = std::string(field.name),
                    .type = TypeText<T>::kText,
                    .is_optional = field.presence == record::Presence::kSometimes});
  };
  std::apply([&](const auto&... fields) { (add(fields), ...); }, record::Fields<S>::kList);
  return rows;
}

template <size_t kIndex = 0>
void AddKinds(Documentation& tables) {
  using R = std::variant_alternative_t<kIndex, record::Body>;
  if constexpr (record::HasFields<R>) {
    tables[std::string(R::kKind)] = RowsOf<R>();
    AddKinds<kIndex + 1>(tables);
  }
}

Documentation Tables() {
  Documentation tables = {{"Every record", RowsOf<record::Record>()},
                          {"Status", RowsOf<record::Status>()},
                          {"run.inputs", RowsOf<record::RunInput>()},
                          {"attempt.preFilter", RowsOf<record::PreFilter>()},
                          {"attempt.filter", RowsOf<record::FilteredNode>()},
                          {"attempt.scores", RowsOf<record::Scores>()},
                          {"attempt.waits", RowsOf<record::Wait>()},
                          {"attempt.postFilter", RowsOf<record::PostFilter>()},
                          {"attempt.dryRun", RowsOf<record::DryRun>()},
                          {"attempt.failure", RowsOf<record::Failure>()},
                          {"Effects.config", RowsOf<record::ClaimConfig>()},
                          {"Effects.devices", RowsOf<record::ClaimDevice>()},
                          {"Effects.disruption", RowsOf<record::Disruption>()},
                          {"Effects.extendedClaim", RowsOf<record::ExtendedClaim>()},
                          {"move.hints", RowsOf<record::Hint>()},
                          {"queue.info", RowsOf<record::QueuedPod>()},
                          {"final.claims", RowsOf<record::ClaimView>()},
                          {"final.pods", RowsOf<record::FinalPod>()}};
  AddKinds(tables);
  return tables;
}

// The words in backquotes: "`a`, `b`" has two.
std::vector<std::string> Quoted(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '`');
  std::vector<std::string> words;
  for (size_t i = 1; i < parts.size(); i += 2) words.push_back(parts[i]);
  return words;
}

std::vector<std::string> Cells(absl::string_view line) {
  std::vector<std::string> cells = absl::StrSplit(line.substr(1, line.rfind('|') - 1), '|');
  for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
  return cells;
}

// The tables of the page that have a column `field`: by the kind of record that their heading names or their
// column `record`; with a path, by the field that the line above them begins with.
Documentation ReadPage() {
  Documentation page;
  std::string kind;
  std::string section;
  std::vector<std::string> columns;
  const auto text = codec::ReadFile(SCHEDSIM_SOURCE_DIR "/docs/trace.md");
  EXPECT_TRUE(text.ok()) << text.status();
  for (absl::string_view line : absl::StrSplit(text.value_or(""), '\n')) {
    if (absl::StartsWith(line, "#")) {
      const std::vector<std::string> words = Quoted(line);
      kind = words.empty() ? std::string(line.substr(line.find(' ') + 1)) : words[0];
      section = kind;
    } else if (absl::StartsWith(line, "`")) {
      section = absl::StrCat(kind, ".", Quoted(line)[0]);
    } else if (!absl::StartsWith(line, "|")) {
      columns.clear();
    } else if (columns.empty()) {
      columns = Cells(line);
    } else if (!absl::StartsWith(line, "| ---")) {
      std::map<std::string, std::string> cells;
      const std::vector<std::string> list = Cells(line);
      for (size_t i = 0; i < columns.size() && i < list.size(); ++i) cells[columns[i]] = list[i];
      if (cells.count("field") == 0) continue;
      if (!Quoted(cells["record"]).empty()) section = Quoted(cells["record"])[0];
      for (const std::string& name : Quoted(cells["field"])) {
        page[section].push_back({.name = name, .type = cells["type"], .is_optional = !cells["when"].empty()});
      }
    }
  }
  return page;
}

std::string NamesOf(const std::vector<Row>& rows) {
  return absl::StrJoin(rows, " ", [](std::string* out, const Row& row) { absl::StrAppend(out, row.name); });
}

TEST(TracePageTest, HasTheFieldsOfTheTables) {
  const Documentation page = ReadPage();
  const Documentation tables = Tables();
  for (const auto& [section, rows] : page) EXPECT_EQ(tables.count(section), 1U) << section << " is no record";
  for (const auto& [section, rows] : tables) {
    const auto found = page.find(section);
    ASSERT_NE(found, page.end()) << section << " is not in docs/trace.md";
    const std::vector<Row>& documented = found->second;
    ASSERT_EQ(NamesOf(documented), NamesOf(rows)) << "of " << section;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string place = absl::StrCat(section, ": ", rows[i].name);
      const bool refers = absl::StartsWith(documented[i].type, "as ");
      EXPECT_TRUE(refers || absl::StartsWith(documented[i].type, rows[i].type))
          << place << " is " << documented[i].type << ", expected " << rows[i].type;
      // What another table says of a field, is said there.
      EXPECT_TRUE(refers || documented[i].is_optional == rows[i].is_optional)
          << place << (rows[i].is_optional ? " is not always there" : " is always there");
    }
  }
}

}  // namespace
}  // namespace schedsim::sim
