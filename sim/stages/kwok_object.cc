#include "sim/stages/kwok_object.h"

namespace schedsim::sim {
namespace {

std::string TextOf(const codec::Value* value) {
  return value != nullptr && value->is_string() ? std::string(value->text) : std::string();
}

}  // namespace

KwokObjectHead ReadKwokObjectHead(const codec::Value& root, codec::StrictReader& reader,
                                  codec::ErrorList& errors) {
  KwokObjectHead head;
  reader.Skip("apiVersion");
  reader.Skip("status");
  head.kind = TextOf(reader.Take("kind"));
  if (const codec::Value* metadata = reader.Take("metadata")) {
    head.name = TextOf(metadata->Find("name"));
    head.name_space = TextOf(metadata->Find("namespace"));
  }
  if (head.name.empty()) errors.Add(root.position, "metadata.name: expected a name");
  return head;
}

}  // namespace schedsim::sim
