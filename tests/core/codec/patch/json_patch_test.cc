// Operations of RFC 6902, some after its appendix A.
#include "core/codec/patch/json_patch.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

TEST(JsonPatchTest, CarriesOutOperationsOrSaysWhichItCannot) {
  const PatchExample examples[] = {
      {R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])", R"({"foo":"bar","baz":"qux"})"},
      {R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
       R"({"foo":["bar","qux","baz"]})"},
      {R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc"]}])",
       R"({"foo":["bar",["abc"]]})"},
      {R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])", R"({"foo":"bar"})"},
      {R"({"foo":["a","b"]})", R"([{"op":"remove","path":"/foo/0"}])", R"({"foo":["b"]})"},
      {R"({"spec":{"schedulingGates":[{"name":"g"}]}})",
       R"([{"op":"replace","path":"/spec/schedulingGates","value":[]}])",
       R"({"spec":{"schedulingGates":[]}})"},
      {R"({"a/b":1,"m~n":2})",
       R"([{"op":"test","path":"/m~0n","value":2},{"op":"replace","path":"/a~1b","value":3}])",
       R"({"a/b":3,"m~n":2})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/b","value":3}])", "replace /b: there is no such place"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/1"}])", "remove /a/1: there is no such place"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/3","value":1}])", "add /a/3: there is no such place"},
      {R"({"a":1})", R"([{"op":"add","path":"a","value":1}])", "add a: there is no such place"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":3}])", "test /a: another value stands there"},
      {R"({"a":1})", R"([{"op":"move","path":"/b","from":"/a"}])", R"({"b":1})"},
      {R"({"a":[1,2,3]})", R"([{"op":"move","path":"/a/2","from":"/a/0"}])", R"({"a":[2,3,1]})"},
      {R"({"a":{"b":1}})", R"([{"op":"copy","path":"/c","from":"/a/b"}])", R"({"a":{"b":1},"c":1})"},
      {R"({"a":1})", R"([{"op":"copy","path":"/c","from":"/x"}])", "copy /c from /x: there is no such place"},
      {R"({"a":1})", R"([{"op":"move","path":"/c"}])", "move /c: expected from, a place of the object"},
      {R"({"a":1})", R"([{"op":"swap","path":"/b","from":"/a"}])",
       "operation swap of a JSON patch: expected add, remove, replace, move, copy or test"},
      {R"({"a":1})", R"([{"op":"add","path":"/b"}])", "add /b: expected a value"},
      {R"({"a":1})", R"([{"op":"add"}])", "an operation of a JSON patch: expected op and path"},
      {R"({"a":1})", R"({"op":"add"})", "a JSON patch: expected a list"},
  };
  for (const PatchExample& example : examples) {
    EXPECT_EQ(Patched(example, JsonPatch), example.result) << example.target << " " << example.patch;
  }
}

}  // namespace
}  // namespace schedsim::codec
