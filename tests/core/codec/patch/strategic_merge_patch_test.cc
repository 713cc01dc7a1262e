// What the API server makes of strategic merge patches.
#include "core/codec/patch/strategic_merge_patch.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

// A row of a table: of which kind, and the rest.
struct KindExample {
  const char* kind;
  PatchExample example;
};

std::string PatchedAs(const KindExample& row) {
  return Patched(row.example, [&](const Value& target, const Value& patch, Document& document) {
    return StrategicMergePatch(target, patch, *api::FindKindByName(row.kind), document);
  });
}

TEST(StrategicMergePatchTest, MapsAreMergedAndListsWithoutKeyReplaced) {
  const KindExample rows[] = {
      {"Pod", {R"({"a":{"b":1,"c":2}})", R"({"a":{"b":null,"d":{"e":null}}})", R"({"a":{"c":2,"d":{}}})"}},
      {"Node",
       {R"({"spec":{"taints":[{"key":"a"}]}})", R"({"spec":{"taints":[{"key":"b"}]}})",
        R"({"spec":{"taints":[{"key":"b"}]}})"}},
      {"Node", {R"({"spec":{"taints":[{"key":"a"}]}})", R"({"spec":{"taints":null}})", R"({"spec":{}})"}},
      {"NetworkPolicy",
       {R"({"spec":{"ingress":[{"ports":[{"port":1}]}]}})",
        R"({"spec":{"ingress":[{"ports":[{"port":2}]}]}})",
        R"({"spec":{"ingress":[{"ports":[{"port":2}]}]}})"}},
      // The selector of a budget is a whole.
      {"PodDisruptionBudget",
       {R"({"spec":{"selector":{"matchLabels":{"a":"b"}}}})",
        R"({"spec":{"selector":{"matchLabels":{"c":"d"}}}})",
        R"({"spec":{"selector":{"matchLabels":{"c":"d"}}}})"}},
  };
  for (const KindExample& row : rows) EXPECT_EQ(PatchedAs(row), row.example.result) << row.example.patch;
}

TEST(StrategicMergePatchTest, ItemsAreMergedByTheKeyOfTheirType) {
  const KindExample rows[] = {
      {"Service",
       {R"({"spec":{"ports":[{"port":80,"targetPort":8080},{"port":443}]}})",
        R"({"spec":{"ports":[{"port":80,"targetPort":9090}]}})",
        R"({"spec":{"ports":[{"port":80,"targetPort":9090},{"port":443}]}})"}},
      {"Pod",
       {R"({"spec":{"containers":[{"name":"a","image":"1","ports":[{"containerPort":80}]}]}})",
        R"({"spec":{"containers":[{"name":"a","image":"2","ports":[{"containerPort":80,"hostPort":8}]}]}})",
        R"({"spec":{"containers":[{"name":"a","image":"2","ports":[{"containerPort":80,"hostPort":8}]}]}})"}},
      {"Deployment",
       {R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}}}})",
        R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"2"}]}}}})",
        R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"2"},{"name":"b"}]}}}})"}},
      {"CronJob",
       {R"({"spec":{"jobTemplate":{"spec":{"template":{"spec":{"volumes":[{"name":"a"}]}}}}}})",
        R"({"spec":{"jobTemplate":{"spec":{"template":{"spec":{"volumes":[{"name":"a","emptyDir":{}}]}}}}}})",
        R"({"spec":{"jobTemplate":{"spec":{"template":{"spec":{"volumes":[{"name":"a","emptyDir":{}}]}}}}}})"}},
      // What is new comes first.
      {"Pod",
       {R"({"status":{"conditions":[{"type":"A","reason":"r"},{"type":"B"}]}})",
        R"({"status":{"conditions":[{"type":"C","t":null},{"type":"B","status":"True"}]}})",
        R"({"status":{"conditions":[{"type":"C"},{"type":"A","reason":"r"},{"type":"B","status":"True"}]}})"}},
      // A list that is new is taken as it is, also with items of one key.
      {"Pod",
       {R"({"spec":{}})",
        R"({"spec":{"topologySpreadConstraints":[{"topologyKey":"z","a":1},{"topologyKey":"z"}]}})",
        R"({"spec":{"topologySpreadConstraints":[{"topologyKey":"z","a":1},{"topologyKey":"z"}]}})"}},
      {"Pod",
       {R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":["b","a"]}})",
        R"({"metadata":{"finalizers":["b","a"]}})"}},
  };
  for (const KindExample& row : rows) EXPECT_EQ(PatchedAs(row), row.example.result) << row.example.patch;
}

TEST(StrategicMergePatchTest, DirectivesAreHeeded) {
  const KindExample rows[] = {
      {"Pod",
       {R"({"status":{"conditions":[{"type":"A"},{"type":"B"}]}})",
        R"({"status":{"conditions":[{"type":"A","$patch":"delete"}]}})",
        R"({"status":{"conditions":[{"type":"B"}]}})"}},
      {"Pod",
       {R"({"status":{"conditions":[{"type":"A"},{"type":"B"}]}})",
        R"({"status":{"conditions":[{"type":"C"},{"$patch":"replace"}]}})",
        R"({"status":{"conditions":[{"type":"C"}]}})"}},
      {"Pod", {R"({"a":{"b":1}})", R"({"a":{"$patch":"replace","c":2}})", R"({"a":{"c":2}})"}},
      {"Pod", {R"({"a":{"b":1}})", R"({"a":{"$patch":"delete"}})", R"({"a":{}})"}},
      {"Pod",
       {R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
        R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"}}]}})",
        R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/"}}]}})"}},
      {"Deployment",
       {R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{}}}})",
        R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
        R"({"spec":{"strategy":{"type":"Recreate"}}})"}},
      {"Pod",
       {R"({"metadata":{"finalizers":["a","b"]}})",
        R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})",
        R"({"metadata":{"finalizers":["b"]}})"}},
      {"Pod",
       {R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
        R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"},{"name":"n"}],"containers":[{"name":"n"}]}})",
        R"({"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a"},{"name":"n"}]}})"}},
      {"Pod",
       {R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
        R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}})",
        R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})"}},
  };
  for (const KindExample& row : rows) EXPECT_EQ(PatchedAs(row), row.example.result) << row.example.patch;
}

TEST(StrategicMergePatchTest, ErrorsNameThePath) {
  const KindExample rows[] = {
      {"Service",
       {R"({"spec":{"ports":[{"port":80}]}})", R"({"spec":{"ports":[{"targetPort":80}]}})",
        "spec.ports[0].port: expected a value, by which the list is merged, got none"}},
      {"Service",
       {R"({"spec":{"ports":[{"port":80}]}})", R"({"spec":{"ports":[80]}})",
        "spec.ports[0]: expected a map, got a number"}},
      {"Pod", {R"({})", R"({"$patch":"merge"})", "$patch: expected delete or replace"}},
      {"Pod",
       {R"({"spec":{"volumes":[{"name":"v"}]}})",
        R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name"],"x":1}]}})",
        "spec.volumes[0].$retainKeys: expected all fields of the patch, got a list without x"}},
      {"Pod",
       {R"({"spec":{"volumes":[{"name":"v"}]}})",
        R"({"spec":{"$setElementOrder/volumes":[{"name":"w"}],"volumes":[{"name":"v"}]}})",
        "spec.$setElementOrder/volumes: expected all items of the list in the patch"}},
      {"Pod",
       {R"({"a":1})", R"({"$other":1})",
        "$other: expected $patch, $retainKeys, $setElementOrder/FIELD or $deleteFromPrimitiveList/FIELD"}},
      {"Pod", {R"({})", R"([])", "expected a map, got a list"}},
  };
  for (const KindExample& row : rows) EXPECT_EQ(PatchedAs(row), row.example.result) << row.example.patch;
}

}  // namespace
}  // namespace schedsim::codec
