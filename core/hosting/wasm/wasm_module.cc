#include "core/hosting/wasm/wasm_module.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/hosting/wasm/wasm_bytes.h"
#include "core/hosting/wasm/wasm_code.h"

namespace schedsim::hosting {
namespace {

enum Section : uint8_t {
  kCustom = 0,
  kTypes = 1,
  kImports = 2,
  kFunctions = 3,
  kTables = 4,
  kMemories = 5,
  kGlobals = 6,
  kExports = 7,
  kStart = 8,
  kElements = 9,
  kCode = 10,
  kData = 11,
  kDataCount = 12,
};
constexpr size_t kSectionCount = 13;
// As they follow each other.
constexpr Section kOrder[] = {kTypes,   kImports, kFunctions, kTables,    kMemories, kGlobals,
                              kExports, kStart,   kElements,  kDataCount, kCode,     kData};

constexpr size_t kHeaderBytes = 8;
constexpr uint8_t kFunctionForm = 0x60;
constexpr uint8_t kI32 = 0x7f;
constexpr uint8_t kI64 = 0x7e;
// An engine takes no longer lists.
constexpr size_t kParamsMax = 1000;

absl::Status Refuse(absl::string_view what) { return absl::InvalidArgumentError(what); }

char LetterOf(uint8_t type) {
  switch (type) {
    case kI32:
      return 'i';
    case kI64:
      return 'I';
    case 0x7d:
      return 'f';
    case 0x7c:
      return 'F';
    default:
      return 'r';
  }
}

std::string NamesOf(absl::string_view letters) {
  return absl::StrJoin(letters, ", ", [](std::string* out, char letter) {
    constexpr absl::string_view kLetters = "iIfFr";
    constexpr const char* kNames[] = {"i32", "i64", "f32", "f64", "ref"};
    absl::StrAppend(out, kNames[kLetters.find(letter)]);
  });
}

// Reads a module section by section, and writes another.
class ModuleMeter {
 public:
  ModuleMeter(absl::string_view bytes, int64_t fuel) : bytes_(bytes), fuel_(fuel) {}

  absl::StatusOr<WasmModule> Run() {
    RETURN_IF_ERROR(Split());
    RETURN_IF_ERROR(ReadTypes());
    RETURN_IF_ERROR(ReadImports());
    ReadFunctions();
    RETURN_IF_ERROR(LimitTables());
    RETURN_IF_ERROR(LimitMemory());
    AddGlobals();
    RETURN_IF_ERROR(ReadExports());
    RETURN_IF_ERROR(WriteCode());
    module_.metered = std::string(bytes_.substr(0, kHeaderBytes));
    for (const Section section : kOrder) {
      const std::string& content = sections_[section];
      if (content.empty()) continue;
      AppendByte(section, module_.metered);
      AppendSized(content, module_.metered);
    }
    return std::move(module_);
  }

 private:
  // What is valid is not broken; a mistake of ours would be.
  static absl::Status CheckEnd(const WasmBytes& bytes) {
    return bytes.ok() ? absl::OkStatus() : Refuse("a section that ends too early");
  }

  // The length of the list that a section is, of which nothing was read yet; 0: the module has no such
  // section.
  static uint32_t CountOf(WasmBytes& section) { return section.at_end() ? 0 : section.Number(); }

  absl::Status Split() {
    WasmBytes bytes(bytes_);
    bytes.Take(kHeaderBytes);
    while (!bytes.at_end()) {
      const uint8_t id = bytes.Byte();
      const absl::string_view content = bytes.Sized();
      if (id == kCustom) continue;
      if (id >= kSectionCount) return Refuse(absl::StrCat("section ", id, ", expected 0 to 12"));
      sections_[id] = std::string(content);
    }
    return CheckEnd(bytes);
  }

  static std::string ReadTypeList(WasmBytes& bytes) {
    std::string letters;
    const uint32_t count = bytes.Number();
    for (uint32_t i = 0; i < count && bytes.ok(); ++i) letters.push_back(LetterOf(bytes.Byte()));
    return letters;
  }

  absl::Status ReadTypes() {
    WasmBytes bytes(sections_[kTypes]);
    const uint32_t count = CountOf(bytes);
    for (uint32_t i = 0; i < count && bytes.ok(); ++i) {
      if (bytes.Byte() != kFunctionForm) return Refuse("a type that is none of functions");
      WasmFunctionType& type = context_.types.emplace_back();
      type.params = ReadTypeList(bytes);
      type.results = ReadTypeList(bytes);
      if (type.params.size() > kParamsMax || type.results.size() > kParamsMax) {
        return Refuse(absl::StrCat("a function with more than ", kParamsMax, " parameters or results"));
      }
    }
    return CheckEnd(bytes);
  }

  absl::Status ReadImports() {
    WasmBytes bytes(sections_[kImports]);
    const uint32_t count = CountOf(bytes);
    for (uint32_t i = 0; i < count && bytes.ok(); ++i) {
      WasmImport& import = module_.imports.emplace_back();
      import.module = std::string(bytes.Sized());
      import.name = std::string(bytes.Sized());
      import.kind = static_cast<WasmKind>(bytes.Byte());
      if (import.kind != WasmKind::kFunction) {
        return Refuse(absl::StrCat("imports \"", Printable(import.name, kShownBytesMax), "\" of \"",
                                   Printable(import.module, kShownBytesMax),
                                   "\", which is no function, expected imports of functions alone"));
      }
      const uint32_t type = bytes.Number();
      if (type >= context_.types.size()) return Refuse("an import of an unknown type");
      import.type = context_.types[type];
      context_.function_types.push_back(type);
    }
    context_.imported_functions = static_cast<uint32_t>(context_.function_types.size());
    return CheckEnd(bytes);
  }

  void ReadFunctions() {
    WasmBytes bytes(sections_[kFunctions]);
    const uint32_t count = CountOf(bytes);
    for (uint32_t i = 0; i < count && bytes.ok(); ++i) context_.function_types.push_back(bytes.Number());
  }

  // Reads limits and appends them with an upper end.
  static absl::Status Limit(absl::string_view what, uint32_t limit, WasmBytes& bytes, std::string& out,
                            uint32_t& max) {
    const uint8_t flags = bytes.Byte();
    if (flags > 1) return Refuse(absl::StrCat("a ", what, " that is shared or of 64 bits"));
    const uint32_t min = bytes.Number();
    max = flags == 1 ? std::min(bytes.Number(), limit) : limit;
    if (min > limit) {
      return Refuse(absl::StrCat("a ", what, " of ", min, " from the start, expected at most ", limit));
    }
    AppendByte(1, out);
    AppendNumber(min, out);
    AppendNumber(max, out);
    return absl::OkStatus();
  }

  absl::Status LimitTables() {
    if (sections_[kTables].empty()) return absl::OkStatus();
    WasmBytes bytes(sections_[kTables]);
    std::string out;
    const uint32_t count = bytes.Number();
    constexpr uint32_t kCountMax = 100;
    if (count > kCountMax) return Refuse(absl::StrCat("more than ", kCountMax, " tables"));
    AppendNumber(count, out);
    for (uint32_t i = 0; i < count && bytes.ok(); ++i) {
      AppendByte(bytes.Byte(), out);
      uint32_t max = 0;
      RETURN_IF_ERROR(Limit("table", kWasmTableMax, bytes, out, max));
    }
    RETURN_IF_ERROR(CheckEnd(bytes));
    sections_[kTables] = std::move(out);
    return absl::OkStatus();
  }

  absl::Status LimitMemory() {
    if (sections_[kMemories].empty()) return absl::OkStatus();
    WasmBytes bytes(sections_[kMemories]);
    std::string out;
    const uint32_t count = bytes.Number();
    if (count > 1) return Refuse("more than one memory");
    AppendNumber(count, out);
    if (count == 1) {
      RETURN_IF_ERROR(Limit("memory in pages", kWasmMemoryPagesMax, bytes, out, context_.memory_pages_max));
    }
    RETURN_IF_ERROR(CheckEnd(bytes));
    sections_[kMemories] = std::move(out);
    return absl::OkStatus();
  }

  // Appends to a section that is a list; `added` are `count` items.
  void Append(Section section, uint32_t count, absl::string_view added) {
    std::string& content = sections_[section];
    WasmBytes bytes(content);
    const uint32_t before = CountOf(bytes);
    std::string out;
    AppendNumber(uint64_t{before} + count, out);
    out.append(bytes.rest().data(), bytes.rest().size());
    out.append(added.data(), added.size());
    content = std::move(out);
  }

  // No globals are imported.
  void AddGlobals() {
    WasmBytes bytes(sections_[kGlobals]);
    const uint32_t first = CountOf(bytes);
    context_.fuel_global = first;
    context_.stack_global = first + 1;
    context_.stop_global = first + 2;
    constexpr uint8_t kI32Const = 0x41;
    constexpr uint8_t kI64Const = 0x42;
    std::string added;
    const auto add = [&added](uint8_t type, int64_t value) {
      AppendByte(type, added);
      AppendByte(1, added);  // It changes.
      AppendByte(type == kI64 ? kI64Const : kI32Const, added);
      AppendSigned(value, added);
      AppendByte(0x0b, added);
    };
    // The function that a module starts with runs before any call.
    add(kI64, fuel_);
    add(kI32, kWasmStackBytesMax);
    add(kI32, static_cast<int64_t>(WasmStop::kNone));
    Append(kGlobals, 3, added);
  }

  absl::Status ReadExports() {
    WasmBytes bytes(sections_[kExports]);
    const uint32_t count = CountOf(bytes);
    std::string out;
    for (uint32_t i = 0; i < count && bytes.ok(); ++i) {
      WasmExport& exported = module_.exports.emplace_back();
      exported.name = std::string(bytes.Sized());
      exported.kind = static_cast<WasmKind>(bytes.Byte());
      uint32_t index = bytes.Number();
      if (exported.name == kStopExport || exported.name == kStartExport) {
        return Refuse("an export with a name that is ours");
      }
      if (exported.kind == WasmKind::kFunction) {
        if (index >= context_.function_types.size()) return Refuse("an export of an unknown function");
        exported.type = context_.types[context_.function_types[index]];
        if (exported.type.params.empty()) index = AddStart(index);
      }
      AppendSized(exported.name, out);
      AppendByte(static_cast<uint32_t>(exported.kind), out);
      AppendNumber(index, out);
    }
    RETURN_IF_ERROR(CheckEnd(bytes));
    uint32_t added = 1;
    if (!sections_[kStart].empty()) {
      const uint32_t start = WasmBytes(sections_[kStart]).Number();
      if (start >= context_.function_types.size()) return Refuse("a start with an unknown function");
      module_.exports.push_back({.name = kStartExport});
      AppendSized(kStartExport, out);
      AppendByte(static_cast<uint32_t>(WasmKind::kFunction), out);
      AppendNumber(AddStart(start), out);
      sections_[kStart].clear();
      ++added;
    }
    AppendSized(kStopExport, out);
    AppendByte(static_cast<uint32_t>(WasmKind::kGlobal), out);
    AppendNumber(context_.stop_global, out);
    sections_[kExports].clear();
    Append(kExports, count + added, out);
    return absl::OkStatus();
  }

  // A function that starts the counters and calls `function`; returns its index.
  uint32_t AddStart(uint32_t function) {
    start_types_.push_back(context_.function_types[function]);
    starts_.push_back(StartWasmCall(function, fuel_, context_));
    return static_cast<uint32_t>(context_.function_types.size() + starts_.size() - 1);
  }

  absl::Status WriteCode() {
    WasmBytes bytes(sections_[kCode]);
    const uint32_t count = CountOf(bytes);
    if (count + context_.imported_functions != context_.function_types.size()) {
      return Refuse("not as many bodies as functions");
    }
    std::string out;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t type = context_.function_types[context_.imported_functions + i];
      if (type >= context_.types.size()) return Refuse("a function of an unknown type");
      std::string body;
      ASSIGN_OR_RETURN(body, MeterWasmCode(bytes.Sized(), context_.types[type], context_));
      AppendSized(body, out);
    }
    RETURN_IF_ERROR(CheckEnd(bytes));
    for (const std::string& start : starts_) AppendSized(start, out);
    const uint32_t started = static_cast<uint32_t>(starts_.size());
    if (count + started == 0) return absl::OkStatus();
    sections_[kCode].clear();
    Append(kCode, count + started, out);
    std::string types;
    for (const uint32_t type : start_types_) AppendNumber(type, types);
    Append(kFunctions, started, types);
    return absl::OkStatus();
  }

  const absl::string_view bytes_;
  const int64_t fuel_;
  std::array<std::string, kSectionCount> sections_;  // By Section; "": the module has none.
  WasmCodeContext context_;
  WasmModule module_;
  std::vector<uint32_t> start_types_;  // Of each of `starts_`.
  std::vector<std::string> starts_;
};

}  // namespace

std::string WasmFunctionType::ToString() const {
  std::string text = absl::StrCat("(", NamesOf(params), ")");
  if (results.empty()) return text + " -> ()";
  return absl::StrCat(text, " -> ", results.size() == 1 ? "" : "(", NamesOf(results),
                      results.size() == 1 ? "" : ")");
}

absl::StatusOr<WasmModule> MeterWasm(absl::string_view bytes, int64_t fuel) {
  return ModuleMeter(bytes, fuel).Run();
}

}  // namespace schedsim::hosting
