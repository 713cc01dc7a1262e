// Stages: reading, choosing, delays, and what they do.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/codec/text/reader.h"
#include "gtest/gtest.h"
#include "sim/stages/cel_fields.h"
#include "sim/stages/stage_choice.h"
#include "sim/stages/stage_functions.h"
#include "sim/stages/stage_preview.h"
#include "sim/stages/stage_reader.h"

namespace schedsim::sim {
namespace {

constexpr char kHead[] = "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: s}\nspec:\n";

// What `stage test` prints of a stage with this spec, or "ERROR " and the message.
std::string Preview(const std::string& spec, const std::string& object) {
  StageFile read;
  absl::Status status = ReadStagesOfText(absl::StrCat(kHead, spec), "s.yaml", read);
  if (!status.ok()) return absl::StrCat("ERROR ", status.message());
  std::string out;
  status = codec::ReadText(object, "o.yaml", {}, [&](const codec::Document& document) {
    const absl::StatusOr<std::string> text = PreviewStages(read.stages, document.root);
    out = text.ok() ? *text : absl::StrCat("ERROR ", text.status().message());
    return absl::OkStatus();
  });
  return status.ok() ? out : absl::StrCat("ERROR ", status.message());
}

// Without the indentation of its lines.
std::string Flat(absl::string_view text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) absl::StripAsciiWhitespace(&line);
  return absl::StrJoin(lines, "\n");
}

constexpr char kPod[] =
    "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: web}, finalizers: [x, y], "
    "annotations: {wait: 60s, stop: '2006-01-02T15:04:15Z', weight: '0x10', bare: '1000', none: ''}}, "
    "spec: {nodeName: n1, replicas: 3, containers: [{name: c, image: i}]}, status: {phase: Running}}";

constexpr char kRef[] = "  resourceRef: {kind: Pod}\n";

bool Matches(const std::string& selector) {
  const std::string out =
      Preview(absl::StrCat(kRef, "  selector:\n    ", selector, "\n  next: {delete: true}\n"), kPod);
  EXPECT_FALSE(absl::StartsWith(out, "ERROR")) << selector << ": " << out;
  return absl::StrContains(out, "stage: s\n");
}

TEST(StageTest, SelectorsMatchAsTheySay) {
  EXPECT_TRUE(Matches("matchLabels: {app: web}"));
  EXPECT_FALSE(Matches("matchLabels: {app: api}"));
  EXPECT_TRUE(Matches("matchAnnotations: {wait: 60s}"));
  EXPECT_FALSE(Matches("matchAnnotations: {missing: ''}"));
  EXPECT_TRUE(Matches("matchExpressions: []"));
  EXPECT_TRUE(Matches("matchExpressions: [{key: .status.phase, operator: In, values: [Running]}]"));
  EXPECT_FALSE(Matches("matchExpressions: [{key: .status.phase, operator: NotIn, values: [Running]}]"));
  EXPECT_TRUE(Matches("matchExpressions: [{jq: {key: .status.reason, operator: NotIn, values: [x]}}]"));
  EXPECT_TRUE(Matches("matchExpressions: [{key: .metadata.deletionTimestamp, operator: DoesNotExist}]"));
  EXPECT_FALSE(Matches("matchExpressions: [{key: '.status.conditions[]', operator: Exists}]"));
  // A number of the object is a float and equals no text; one that was computed does.
  EXPECT_FALSE(Matches("matchExpressions: [{key: .spec.replicas, operator: In, values: ['3']}]"));
  EXPECT_TRUE(Matches("matchExpressions: [{key: .spec.replicas | tostring, operator: In, values: ['3']}]"));
  EXPECT_TRUE(Matches("matchExpressions: [{key: .spec.containers | length, operator: In, values: ['1']}]"));
  EXPECT_TRUE(Matches("matchExpressions: [{cel: {expression: self.spec.nodeName != ''}}]"));
  EXPECT_TRUE(Matches("matchExpressions: [{cel: {expression: '!has(self.metadata.deletionTimestamp)'}}]"));
  // Both are given: jq counts.
  EXPECT_TRUE(
      Matches("matchExpressions: [{jq: {key: .spec, operator: Exists}, cel: {expression: 'false'}}]"));
}

TEST(StageTest, WithoutASelectorOrOfAnotherKindNothingMatches) {
  EXPECT_FALSE(absl::StrContains(Preview(absl::StrCat(kRef, "  next: {delete: true}\n"), kPod), "stage: s"));
  const std::string other = "  resourceRef: {apiGroup: apps/v1, kind: Pod}\n  selector: {}\n";
  EXPECT_FALSE(absl::StrContains(Preview(other, kPod), "stage: s"));
}

std::string WeightAndDelay(const std::string& fields) {
  return Flat(Preview(absl::StrCat(kRef, "  selector: {}\n", fields), kPod));
}

TEST(StageTest, WeightsAndDelaysFollowTheirExpressions) {
  const auto contains = [](const std::string& fields, const std::string& want) {
    const std::string out = WeightAndDelay(fields);
    EXPECT_TRUE(absl::StrContains(out, want)) << fields << "\n" << out;
  };
  contains("  weight: 4\n", "weight: 4\n");
  contains("  weightFrom: {expressionFrom: '.metadata.annotations[\"weight\"]'}\n", "weight: 16\n");
  contains("  weight: 7\n  weightFrom: {jq: {expression: .metadata.annotations.missing}}\n", "weight: 7\n");
  contains("  weightFrom: {cel: {expression: '2 + 3'}}\n", "weight: 5\n");
  EXPECT_FALSE(absl::StrContains(
      WeightAndDelay("  weight: 7\n  weightFrom: {jq: {expression: .metadata.annotations.wait}}\n"),
      "weight"));
  contains("  delay: {durationMilliseconds: 1000}\n", "- 1000000000\n");
  contains("  delay: {durationMilliseconds: 1000, jitterDurationMilliseconds: 5000}\n",
           "- 1000000000\n- 5000000000\n");
  // The commonest trap: a jitter below the delay takes its place.
  contains(
      "  delay: {durationFrom: {expressionFrom: .metadata.annotations.wait}, jitterDurationMilliseconds: "
      "5000}\n",
      "delay:\n- 5000000000\nstage");
  contains(
      "  delay: {durationMilliseconds: 1, jitterDurationFrom: {jq: {expression: "
      ".metadata.annotations.stop}}}\n",
      "- 1000000\n- 10000000000\n");
  contains("  delay: {durationMilliseconds: 2, durationFrom: {expressionFrom: .metadata.annotations.bare}}\n",
           "- 2000000\n");
  contains("  delay: {durationMilliseconds: 2, durationFrom: {expressionFrom: .metadata.annotations.none}}\n",
           "- 0\n");
  contains("  delay: {durationFrom: {cel: {expression: 'duration(\"3s\")'}}}\n", "- 3000000000\n");
}

TEST(StageTest, StepsComeInTheirOrder) {
  const std::string out = Preview(absl::StrCat(kRef, R"(  selector: {}
  immediateNextStage: true
  next:
    event: {type: Normal, reason: Done, message: finished}
    finalizers: {add: [{value: z}], remove: [{value: x}]}
    statusTemplate: |
      {{ $now := Now }}
      phase: Succeeded
      reason: {{ .spec.replicas }}
      at: {{ $now | Quote }}
      ip: {{ NodeIPWith .spec.nodeName | Quote }}
    delete: true
)"),
                                  kPod);
  EXPECT_EQ(Flat(out), Flat(R"(apiGroup: v1
kind: Pod
name: a
stages:
- next:
  - kind: event
    message: finished
    reason: Done
    type: Normal
  - data:
    - op: remove
      path: /metadata/finalizers/0
    - op: add
      path: /metadata/finalizers/-
      value: z
    kind: patch
    type: application/json-patch+json
  - data:
      status:
        at: <Now>
        ip: <NodeIPWith("n1")>
        phase: Succeeded
        reason: 3
    kind: patch
    subresource: status
    type: application/merge-patch+json
  - kind: delete
  - kind: immediate
  stage: s
  weight: 0
)"));
}

TEST(StageTest, StepsTakeTheRightOfNext) {
  const std::string out = Preview(absl::StrCat(kRef, R"(  selector: {}
  next: {delete: true}
  steps:
  - patch:
      root: metadata
      type: json
      template: |
        - {op: add, path: /labels/x, value: "1"}
      impersonation: {username: me}
  - apply:
      template: |
        apiVersion: v1
        kind: Event
        metadata: {name: {{ .metadata.name }}}
  - delete: true
    patch: {template: "a: 1"}
  - patch: {template: "b: 1"}
)"),
                                  kPod);
  EXPECT_TRUE(absl::StrContains(out, "path: /metadata/labels/x")) << out;
  EXPECT_TRUE(absl::StrContains(out, "impersonation: me")) << out;
  EXPECT_TRUE(absl::StrContains(out, "application/apply-patch+yaml")) << out;
  EXPECT_FALSE(absl::StrContains(out, "a: 1")) << out;
  EXPECT_FALSE(absl::StrContains(out, "b: 1")) << out;
}

TEST(StageTest, SaysWhereAStageIsWrong) {
  struct Row {
    std::string spec;
    std::string want;
  };
  const std::vector<Row> rows = {
      {"  selector: {}\n", "spec.resourceRef.kind: expected a kind"},
      {absl::StrCat(kRef, "  wieght: 1\n"), "s.yaml:6:3: unknown field \"spec.wieght\""},
      {absl::StrCat(kRef, "  weight: -1\n"), "s.yaml:6:11: spec.weight: expected a number from 0 on"},
      {absl::StrCat(kRef, "  selector: {matchExpressions: [{}]}\n"),
       "spec.selector.matchExpressions[0]: expected jq or cel"},
      {absl::StrCat(kRef, "  selector: {matchExpressions: [{key: .a, operator: Equals}]}\n"),
       "operator: expected In, NotIn, Exists or DoesNotExist, got \"Equals\""},
      {absl::StrCat(kRef, "  selector: {matchExpressions: [{key: .a, operator: In}]}\n"), "In needs values"},
      {absl::StrCat(kRef, "  selector: {matchExpressions: [{key: '.a[', operator: Exists}]}\n"),
       "matchExpressions[0].key: no jq expression: syntax error"},
      {absl::StrCat(kRef, "  selector: {matchExpressions: [{cel: {expression: self.nowhere('a')}}]}\n"),
       "matchExpressions[0].cel.expression: column 13: function nowhere is not known"},
      {absl::StrCat(kRef, "  selector: {matchExpressions: [{cel: {expression: self.spec.nodeNme == ''}}]}\n"),
       "matchExpressions[0].cel.expression: column 11: field nodeNme is not known, did you mean nodeName?"},
      {absl::StrCat(kRef, "  next:\n    statusTemplate: |\n      a: b\n      {{ Nowhere }}\n"),
       "spec.next.statusTemplate: s.yaml:9: template: function \"Nowhere\" is not known"},
      {absl::StrCat(kRef, "  steps: [{patch: {template: x, type: xml}}]\n"),
       "spec.steps[0].patch.type: expected json, merge or strategic, got \"xml\""},
  };
  for (const Row& row : rows) {
    const std::string out = Preview(row.spec, kPod);
    EXPECT_TRUE(absl::StartsWith(out, "ERROR ") && absl::StrContains(out, row.want)) << row.want << "\n"
                                                                                     << out;
  }
}

// What kwok 0.8.0 says of these for a pod: all that is named here is an error of the compilation there.
TEST(StageTest, FieldsThatKwokDoesNotKnowAreNamed) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"self.spec.noSuchField == 'x'", "column 11: field noSuchField is not known"},
      {"has(self.spec.noSuchField)", "column 15: field noSuchField is not known"},
      {"self.metadata.lables['a'] == 'b'", "column 15: field lables is not known, did you mean labels?"},
      {"self.spec.containers[0].foo == 'x'", "column 25: field foo is not known"},
      {"self.spec.containers.all(c, c.foo == 'x')", "column 31: field foo is not known"},
      {"self.spec.containers[0].resources.foo == 1", "column 35: field foo is not known"},
      {"true || self.metadata.foo == 'x'", "column 23: field foo is not known"},
      {"self.kind == 'Pod'", "column 6: field kind is not known"},
      {"self.spec.containers[self.foo].name == 'x'", "column 27: field foo is not known"},
      {"self.status.conditions.exists(c, c.type == 'Ready')",
       "column 36: field type is not known: kwok looks up no fields of this type"},
      {"self.spec.affinity.nodeAffinity == null",
       "column 20: field nodeAffinity is not known: kwok looks up no fields of this type"},
      {"self.spec.nodeName == 'self.foo'", ""},
      {"self.metadata.labels.foo == 'x' && self.metadata.labels['a'] == 'b'", ""},
      {"self.spec.overhead['cpu'] == Quantity('0')", ""},
      {"self.spec.containers[0].resources.requests['cpu'] == Quantity('1')", ""},
      {"self.spec.containers.all(c, c.image == 'x') && self.metadata.self == 1",
       "column 62: field self is not known"},
      {"has(self.metadata.deletionTimestamp) && self.status.phase == 'Pending'", ""},
      {"size(self.spec.tolerations) == 0 && self.spec.containers.map(c, c.name)[0] == 'a'", ""},
  };
  for (const auto& [text, want] : rows) {
    const std::string got = UnknownCelField(text, "v1", "Pod");
    EXPECT_TRUE(absl::StartsWith(got, want) && got.empty() == want.empty()) << text << ": " << got;
  }
  EXPECT_EQ(UnknownCelField("self.spec.foo", "apps/v1", "Deployment"), "");
}

TEST(StageTest, ChoosesByWeight) {
  StageFile read;
  for (const char* name : {"a", "b", "c"}) {
    const std::string weight = *name == 'a' ? "0" : (*name == 'b' ? "1" : "3");
    ASSERT_TRUE(ReadStagesOfText(
                    absl::StrCat("kind: Stage\nmetadata: {name: ", name,
                                 "}\nspec: {resourceRef: {kind: Pod}, selector: {}, weight: ", weight, "}\n"),
                    "s.yaml", read)
                    .ok());
  }
  std::vector<StageCandidate> candidates;
  for (const Stage& stage : read.stages) candidates.push_back({.stage = &stage, .weight = stage.weight});
  Rng rng(1);
  int counts[3] = {};
  for (int i = 0; i < 4000; ++i) ++counts[ChooseStage(candidates, rng)->name[0] - 'a'];
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[1], 1000, 100);
  EXPECT_EQ(ChooseStage({}, rng), nullptr);
}

}  // namespace
}  // namespace schedsim::sim
