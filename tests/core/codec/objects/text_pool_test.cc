#include "core/codec/objects/text_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/rng.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

using TextPtr = std::shared_ptr<const api::ObjectText>;

// Puts the text of each document into the pool; all must come out as they are written otherwise.
std::vector<TextPtr> Pooled(const std::string& text, TextPool& pool, absl::string_view group = "") {
  std::vector<TextPtr> texts;
  const absl::Status status = ReadText(text, "f.json", {}, [&](const Document& document) {
    texts.push_back(pool.Make(document.root, group));
    EXPECT_EQ(texts.back()->ToString(), ToJson(document.root));
    return absl::OkStatus();
  });
  EXPECT_EQ(status, absl::OkStatus());
  return texts;
}

std::string Pod(int i) {
  return absl::StrCat("{\"kind\": \"Pod\", \"metadata\": {\"name\": \"a long name that all have ", i,
                      "\", \"escaped\": \"a \\\"quote\\\" and \\\\\", \"k:{\\\"ip\\\":\\\"", i,
                      "\\\"}\": {}}, \"n\": [1, ", i, ", null, true, ", i % 2 == 0 ? "true" : "false",
                      "], \"e\": [], \"s\": \"", i % 3 == 0 ? "" : "x\\ny", "\"}");
}

TEST(TextPoolTest, LikeObjectsAreKeptByTheirDifferences) {
  TextPool pool;
  const std::vector<TextPtr> texts = Pooled(absl::StrCat(Pod(1), Pod(2), Pod(3)), pool);
  EXPECT_EQ(&texts[1]->root(), texts[0].get());
  EXPECT_EQ(&texts[2]->root(), texts[0].get());
}

TEST(TextPoolTest, ObjectsOfAGroupAreLikeItsFirst) {
  TextPool pool;
  const std::vector<TextPtr> texts = Pooled(Pod(1), pool);
  std::string all;
  for (int i = 10; i < 20; ++i) all += Pod(i);
  for (const TextPtr& text : Pooled(all, pool, "group")) EXPECT_EQ(&text->root(), texts[0].get());
}

// An object with one long text of five, and a text of its own that it has twice.
std::string Common(int i) {
  return absl::StrCat("{\"common\": \"registry.example/team/application-", i % 5,
                      ":v1.2.3\", \"own\": [\"own-", 1'000 + i, "\", \"own-", 1'000 + i,
                      "\"], \"rest\": \"what all of them have in common\"}");
}

TEST(TextPoolTest, ADifferenceThatManyObjectsHaveIsKeptOnce) {
  TextPool pool;
  std::string all;
  for (int i = 0; i < 40; ++i) all += Common(i);
  const std::vector<TextPtr> texts = Pooled(all, pool);
  // Its own text twice with a size and a place each, and the place and number of the common text.
  EXPECT_EQ(texts.back()->own_bytes(), 2 * (8u + 2) + 2);
  // The first few of a text have it themselves.
  EXPECT_GT(texts[6]->own_bytes(), 40u);
}

TEST(TextPoolTest, BackslashesAreNotTakenForEscapes) {
  TextPool pool;
  Pooled("{\"a\": \"long text that both have\\n\"}{\"a\": \"long text that both have\\\\n\"}", pool);
}

TEST(TextPoolTest, OtherTypesAreAnotherShape) {
  TextPool pool;
  const std::vector<TextPtr> texts =
      Pooled("{\"aaaaaaaaaaaa\": 1}{\"aaaaaaaaaaaa\": \"1\"}{\"aaaaaaaaaaaa\": null}", pool);
  for (const TextPtr& text : texts) EXPECT_EQ(&text->root(), text.get());
}

TEST(TextPoolTest, ATextOutlivesThePoolAndTheFirstOfItsShape) {
  TextPtr second;
  {
    TextPool pool;
    second = Pooled(absl::StrCat(Pod(1), Pod(2)), pool)[1];
  }
  EXPECT_EQ(second->ToString(), JsonOf(Pod(2), "f.json"));
}

TEST(TextPoolTest, TextsThatNobodyHoldsAreForgotten) {
  TextPool pool;
  Pooled(Pod(1), pool);
  const TextPtr next = Pooled(Pod(2), pool)[0];
  EXPECT_EQ(&next->root(), next.get());
}

TEST(TextPoolTest, RandomObjectsComeBackAsTheyAre) {
  Rng rng(7);
  constexpr absl::string_view kScalars[] = {"1",    "-2.5",  "true",      "false",        "null",
                                            "\"\"", "\"x\"", "\"a\\nb\"", "\"\\\\\"",     "\"{,}\"",
                                            "[]",   "{}",    "[1]",       "{\"k\":\"v\"}"};
  TextPool pool;
  std::vector<TextPtr> kept;
  for (int i = 0; i < 3'000; ++i) {
    std::string text = "{";
    for (int k = 0; k < 4; ++k) {
      absl::StrAppend(&text, k == 0 ? "" : ",", "\"", k == 2 && rng.Below(2) == 0 ? "t,:" : "long key ", k,
                      "\":", kScalars[static_cast<size_t>(rng.Below(14))]);
    }
    kept.push_back(Pooled(text + "}", pool, i % 3 == 0 ? "" : absl::StrCat("g", i % 5))[0]);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace schedsim::codec
