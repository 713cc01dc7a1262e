#include "core/api/object_text.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace schedsim::api {
namespace {

// Parts are the letters and digits between the marks.
std::shared_ptr<ObjectText> Root(const std::string& text,
                                 std::shared_ptr<const SharedTexts> shared_texts = nullptr) {
  auto root = std::make_shared<ObjectText>(text);
  ObjectText::Parts parts;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '<') parts.push_back(static_cast<uint32_t>(at + 1));
    if (text[at] == '>') parts.push_back(static_cast<uint32_t>(at));
  }
  root->set_parts(parts, std::move(shared_texts));
  return root;
}

TEST(ObjectTextTest, AWholeTextIsItself) {
  const ObjectText text("{}");
  EXPECT_EQ(text.ToString(), "{}");
  EXPECT_EQ(text.size_bytes(), 2u);
}

TEST(ObjectTextTest, DifferencesReplaceParts) {
  const auto root = Root("<a>-<bb>-<>-<d>");
  std::string differences;
  size_t next = 0;
  ObjectTextParts::Append(0, next, "", differences);
  ObjectTextParts::Append(2, next, std::string(300, 'x'), differences);
  ObjectTextParts::Append(3, next, "dd", differences);
  const ObjectText text(root, differences, root->size_bytes() - 1 + 300 + 1);
  EXPECT_EQ(text.ToString(), "<>-<bb>-<" + std::string(300, 'x') + ">-<dd>");
}

TEST(ObjectTextTest, SharedTextsReplaceParts) {
  const auto shared_texts = std::make_shared<SharedTexts>();
  const auto root = Root("<a>-<b>-<c>", shared_texts);
  // A number that takes two bytes.
  for (int i = 0; i < 100; ++i) shared_texts->Add("other");
  const size_t number = shared_texts->Add("shared");
  std::string differences;
  size_t next = 0;
  ObjectTextParts::AppendShared(0, next, number, differences);
  ObjectTextParts::Append(1, next, "2", differences);
  ObjectTextParts::AppendShared(2, next, 7, differences);
  const ObjectText text(root, differences, root->size_bytes() + 9);
  EXPECT_EQ(text.ToString(), "<shared>-<2>-<other>");
}

TEST(ObjectTextTest, TheLastTextOfAChainHasTheLastWord) {
  const auto root = Root("<a>-<b>-<c>");
  std::string differences;
  size_t next = 0;
  ObjectTextParts::Append(0, next, "1", differences);
  ObjectTextParts::Append(1, next, "2", differences);
  const auto middle = std::make_shared<ObjectText>(root, differences, root->size_bytes());
  differences.clear();
  next = 0;
  ObjectTextParts::Append(1, next, "b", differences);
  ObjectTextParts::Append(2, next, "3", differences);
  const ObjectText text(middle, differences, root->size_bytes());
  EXPECT_EQ(middle->ToString(), "<1>-<2>-<c>");
  EXPECT_EQ(text.ToString(), "<1>-<b>-<3>");
}

}  // namespace
}  // namespace schedsim::api
