// What the API server makes of strategic merge patches.
#include "core/codec/patch/strategic_merge_patch.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

TEST(StrategicMergePatchTest, MergesByKeyAndHeedsDirectives) {
  const PatchExample examples[] = {
      // Maps and plain values as in a merge patch.
      {R"({"a":{"b":1,"c":2}})", R"({"a":{"b":null,"d":{"e":null}}})", R"({"a":{"c":2,"d":{}}})"},
      // Taints have no key.
      {R"({"taints":[{"key":"a"}]})", R"({"taints":[{"key":"b"}]})", R"({"taints":[{"key":"b"}]})"},
      {R"({"taints":[{"key":"a"}]})", R"({"taints":null})", R"({})"},
      // Conditions have: the others stay.
      {R"({"conditions":[{"type":"A","status":"True","reason":"r"},{"type":"B"}]})",
       R"({"$setElementOrder/conditions":[{"type":"A"}],"conditions":[{"type":"A","status":"False"},{"type":"C","t":null}]})",
       R"({"conditions":[{"type":"A","status":"False","reason":"r"},{"type":"B"},{"type":"C"}]})"},
      {R"({"conditions":[{"type":"A"},{"type":"B"}]})", R"({"conditions":[{"type":"A","$patch":"delete"}]})",
       R"({"conditions":[{"type":"B"}]})"},
      {R"({"conditions":[{"type":"A"},{"type":"B"}]})",
       R"({"conditions":[{"type":"C"},{"$patch":"replace"}]})", R"({"conditions":[{"type":"C"}]})"},
      {R"({"containers":[{"name":"a","image":"1","ports":[{"containerPort":80}]}]})",
       R"({"containers":[{"name":"a","image":"2","ports":[{"containerPort":80,"hostPort":8}]}]})",
       R"({"containers":[{"name":"a","image":"2","ports":[{"containerPort":80,"hostPort":8}]}]})"},
      // Maps as a whole.
      {R"({"a":{"b":1}})", R"({"a":{"$patch":"replace","c":2}})", R"({"a":{"c":2}})"},
      {R"({"a":{"b":1}})", R"({"a":{"$patch":"delete"}})", R"({"a":{}})"},
      {R"({"volumes":[{"name":"v","emptyDir":{}}]})",
       R"({"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"}}]})",
       R"({"volumes":[{"name":"v","hostPath":{"path":"/"}}]})"},
      // Sets.
      {R"({"finalizers":["a"]})", R"({"finalizers":["b","a"]})", R"({"finalizers":["a","b"]})"},
      {R"({"finalizers":["a","b"]})", R"({"$deleteFromPrimitiveList/finalizers":["a"]})",
       R"({"finalizers":["b"]})"},
  };
  for (const PatchExample& example : examples) {
    EXPECT_EQ(Patched(example, StrategicMergePatch), example.result)
        << example.target << " " << example.patch;
  }
}

}  // namespace
}  // namespace schedsim::codec
