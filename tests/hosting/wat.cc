#include "tests/hosting/wat.h"

#include <memory>

#include "gtest/gtest.h"
#include "wabt/binary-writer.h"
#include "wabt/wast-lexer.h"
#include "wabt/wast-parser.h"

namespace schedsim::hosting {

std::string WasmOfText(absl::string_view text) {
  wabt::Errors errors;
  std::unique_ptr<wabt::WastLexer> lexer =
      wabt::WastLexer::CreateBufferLexer("guest.wat", text.data(), text.size(), &errors);
  wabt::Features features;
  wabt::WastParseOptions options(features);
  std::unique_ptr<wabt::Module> module;
  wabt::MemoryStream stream;
  const bool written =
      wabt::Succeeded(wabt::ParseWatModule(lexer.get(), &module, &errors, &options)) &&
      wabt::Succeeded(wabt::WriteBinaryModule(&stream, module.get(), wabt::WriteBinaryOptions()));
  EXPECT_TRUE(written) << (errors.empty() ? "" : errors.front().message);
  if (!written) return "";
  return std::string(stream.output_buffer().data.begin(), stream.output_buffer().data.end());
}

}  // namespace schedsim::hosting
