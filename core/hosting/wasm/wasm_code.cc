#include "core/hosting/wasm/wasm_code.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/hosting/wasm/wasm_bytes.h"

namespace schedsim::hosting {
namespace {

// Instructions by their first byte; those behind 0xfc stand from 0xfc00 on.
enum Op : uint16_t {
  kUnreachable = 0x00,
  kBlock = 0x02,
  kLoop = 0x03,
  kIf = 0x04,
  kElse = 0x05,
  kEnd = 0x0b,
  kBr = 0x0c,
  kBrIf = 0x0d,
  kBrTable = 0x0e,
  kReturn = 0x0f,
  kCall = 0x10,
  kCallIndirect = 0x11,
  kDrop = 0x1a,
  kSelect = 0x1b,
  kSelectTyped = 0x1c,
  kLocalGet = 0x20,
  kLocalSet = 0x21,
  kLocalTee = 0x22,
  kGlobalGet = 0x23,
  kGlobalSet = 0x24,
  kTableGet = 0x25,
  kTableSet = 0x26,
  kFirstLoad = 0x28,
  kLastLoad = 0x35,
  kLastStore = 0x3e,
  kMemorySize = 0x3f,
  kMemoryGrow = 0x40,
  kI32Const = 0x41,
  kI64Const = 0x42,
  kF32Const = 0x43,
  kF64Const = 0x44,
  kI32Eqz = 0x45,
  kI32Eq = 0x46,
  kI32LtS = 0x48,
  kI64Eqz = 0x50,
  kI64LtS = 0x53,
  kI64GtU = 0x56,
  kF32Eq = 0x5b,
  kF64Eq = 0x61,
  kI32Clz = 0x67,
  kI32Popcnt = 0x69,
  kI32Add = 0x6a,
  kI32Sub = 0x6b,
  kI64Clz = 0x79,
  kI64Popcnt = 0x7b,
  kI64Add = 0x7c,
  kI64Sub = 0x7d,
  kI64Mul = 0x7e,
  kI64ShrU = 0x88,
  kF32Abs = 0x8b,
  kF32Ceil = 0x8d,
  kF32Sqrt = 0x91,
  kF32Max = 0x97,
  kF64Abs = 0x99,
  kF64Ceil = 0x9b,
  kF64Sqrt = 0x9f,
  kF64Max = 0xa5,
  kF64Copysign = 0xa6,
  kI64ExtendI32U = 0xad,
  kF32Demote = 0xb6,
  kF64Promote = 0xbb,
  kLastNumeric = 0xc4,
  kRefNull = 0xd0,
  kRefIsNull = 0xd1,
  kRefFunc = 0xd2,
  kLastSaturating = 0xfc07,
  kMemoryInit = 0xfc08,
  kDataDrop = 0xfc09,
  kMemoryCopy = 0xfc0a,
  kMemoryFill = 0xfc0b,
  kTableInit = 0xfc0c,
  kElemDrop = 0xfc0d,
  kTableCopy = 0xfc0e,
  kTableGrow = 0xfc0f,
  kTableSize = 0xfc10,
  kTableFill = 0xfc11,
};

constexpr uint8_t kNoResult = 0x40;
constexpr uint8_t kI32 = 0x7f;
constexpr uint8_t kF32 = 0x7d;
constexpr uint8_t kF64 = 0x7c;

// So many bytes of a call's frame are not for locals and operands.
constexpr uint32_t kFrameBytes = 64;
// A single call that needs more is refused.
constexpr uint64_t kFrameBytesMax = 256 << 10;
// An engine takes no longer ones.
constexpr size_t kBodyBytesMax = 7'000'000;
constexpr uint32_t kInstructionsPerFuel = 64;

struct Instruction {
  uint16_t op = 0;
  // Where it stands in the code.
  uint32_t begin = 0;
  uint32_t size = 0;
  // The function of a call, or the type of an indirect one.
  uint32_t index = 0;
  // What a block takes from the operands, and what it leaves.
  uint32_t params = 0;
  uint32_t results = 0;
  // Of a loop: how many instructions are in it.
  uint32_t count = 0;
};

bool IsBetween(uint16_t op, uint16_t first, uint16_t last) { return first <= op && op <= last; }

// Whether the result may be something that is no number, whose bits the engines choose.
bool MayMakeNan(uint16_t op) {
  return IsBetween(op, kF32Ceil, kF32Max) || IsBetween(op, kF64Ceil, kF64Max) || op == kF32Demote ||
         op == kF64Promote;
}
bool IsSingle(uint16_t op) { return op <= kF32Max || op == kF32Demote; }

// Whether the operand on top says how much there is to do.
bool IsBulk(uint16_t op) {
  return op == kMemoryInit || op == kMemoryCopy || op == kMemoryFill || op == kTableInit ||
         op == kTableCopy || op == kTableGrow || op == kTableFill;
}

// By how many operands a numeric instruction changes the stack: 0 for those of one operand, else -1.
int NumericChange(uint16_t op) {
  const bool is_unary = op == kI32Eqz || op == kI64Eqz || IsBetween(op, kI32Clz, kI32Popcnt) ||
                        IsBetween(op, kI64Clz, kI64Popcnt) || IsBetween(op, kF32Abs, kF32Sqrt) ||
                        IsBetween(op, kF64Abs, kF64Sqrt) || op > kF64Copysign;
  return is_unary ? 0 : -1;
}

// The same for all others but blocks and calls.
int StackChange(uint16_t op) {
  if (IsBetween(op, kFirstLoad, kLastLoad)) return 0;
  if (IsBetween(op, kLastLoad + 1, kLastStore)) return -2;
  if (IsBetween(op, kI32Const, kF64Const)) return 1;
  if (IsBetween(op, kI32Eqz, kLastNumeric)) return NumericChange(op);
  switch (op) {
    case kLocalGet:
    case kGlobalGet:
    case kMemorySize:
    case kTableSize:
    case kRefNull:
    case kRefFunc:
      return 1;
    case kBrIf:
    case kBrTable:
    case kDrop:
    case kLocalSet:
    case kGlobalSet:
    case kTableGrow:
      return -1;
    case kSelect:
    case kSelectTyped:
    case kTableSet:
      return -2;
    case kMemoryInit:
    case kMemoryCopy:
    case kMemoryFill:
    case kTableInit:
    case kTableCopy:
    case kTableFill:
      return -3;
    default:
      return 0;
  }
}

// Reads what follows the first byte of an instruction. False: an instruction that guests may not use.
bool ReadImmediates(WasmBytes& code, const WasmCodeContext& context, Instruction& read) {
  const uint16_t op = read.op;
  if (op == kBlock || op == kLoop || op == kIf) {
    const uint8_t first = code.rest().empty() ? 0 : static_cast<uint8_t>(code.rest()[0]);
    if (first >= kNoResult && first < 0x80) {
      code.Byte();
      read.results = first == kNoResult ? 0 : 1;
      return true;
    }
    const uint32_t type = code.Number();
    if (type >= context.types.size()) return false;
    read.params = static_cast<uint32_t>(context.types[type].params.size());
    read.results = static_cast<uint32_t>(context.types[type].results.size());
    return true;
  }
  if (op == kBrTable || op == kSelectTyped) {
    const uint32_t count = code.Number();
    for (uint32_t i = 0; i < count && code.ok(); ++i) code.Number();
    if (op == kBrTable) code.Number();
    return true;
  }
  if (op == kCall || op == kCallIndirect) {
    read.index = code.Number();
    if (op == kCallIndirect) code.Number();
    return read.index < (op == kCall ? context.function_types.size() : context.types.size());
  }
  if (IsBetween(op, kFirstLoad, kLastStore) || op == kMemoryInit || op == kMemoryCopy || op == kTableInit ||
      op == kTableCopy) {
    code.SkipNumber();
    code.SkipNumber();
    return true;
  }
  if (op == kF32Const) code.Take(4);
  if (op == kF64Const) code.Take(8);
  if (op == kBr || op == kBrIf || IsBetween(op, kLocalGet, kTableSet) ||
      IsBetween(op, kMemorySize, kI64Const) || op == kRefNull || op == kRefFunc || op == kDataDrop ||
      op == kMemoryFill || op == kElemDrop || IsBetween(op, kTableGrow, kTableFill)) {
    code.SkipNumber();
  }
  return op <= kIf || op == kElse || op == kEnd || IsBetween(op, kBr, kReturn) ||
         IsBetween(op, kDrop, kSelectTyped) || IsBetween(op, kLocalGet, kTableSet) ||
         IsBetween(op, kMemorySize, kLastNumeric) || IsBetween(op, kRefNull, kRefFunc) ||
         IsBetween(op, 0xfc00, kTableFill);
}

// Meters one body.
class CodeMeter {
 public:
  CodeMeter(absl::string_view body, const WasmFunctionType& type, const WasmCodeContext& context)
      : bytes_(body), context_(context), local_count_(static_cast<uint32_t>(type.params.size())) {}

  absl::StatusOr<std::string> Run() {
    RETURN_IF_ERROR(ReadLocals());
    RETURN_IF_ERROR(ReadCode());
    MeasureStack();
    const uint64_t frame_bytes = kFrameBytes + 8 * (uint64_t{local_count_} + 4 + stack_max_);
    if (frame_bytes > kFrameBytesMax) {
      return absl::InvalidArgumentError(absl::StrCat("a function whose calls need ", frame_bytes,
                                                     " bytes of stack, expected at most ", kFrameBytesMax));
    }
    frame_bytes_ = static_cast<int32_t>(frame_bytes);
    Write();
    if (out_.size() > kBodyBytesMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a function of ", out_.size(), " bytes with what counts in it, expected at most ", kBodyBytesMax));
    }
    return std::move(out_);
  }

 private:
  // A block that is open while the stack is measured.
  struct Open {
    uint32_t height = 0;  // Below its parameters.
    uint32_t params = 0;
    uint32_t results = 0;
  };

  static absl::Status Broken() { return absl::InvalidArgumentError("code that ends too early"); }

  absl::Status ReadLocals() {
    local_groups_ = bytes_.Number();
    const absl::string_view before = bytes_.rest();
    uint64_t count = local_count_;
    for (uint32_t i = 0; i < local_groups_ && bytes_.ok(); ++i) {
      count += bytes_.Number();
      bytes_.Byte();
    }
    local_count_ = static_cast<uint32_t>(std::min<uint64_t>(count, kFrameBytesMax));
    locals_ = before.substr(0, before.size() - bytes_.rest().size());
    return bytes_.ok() ? absl::OkStatus() : Broken();
  }

  absl::Status ReadCode() {
    code_ = bytes_.rest();
    WasmBytes code(code_);
    std::vector<size_t> open;
    while (!code.at_end()) {
      Instruction read;
      read.begin = static_cast<uint32_t>(code.position());
      read.op = code.Byte();
      if (read.op == 0xfc) read.op = static_cast<uint16_t>(0xfc00 + std::min<uint32_t>(code.Number(), 0xff));
      if (!ReadImmediates(code, context_, read)) {
        return absl::InvalidArgumentError(
            absl::StrCat("instruction 0x", absl::Hex(read.op),
                         ", expected those of WebAssembly 2.0 without vectors, exceptions and threads"));
      }
      read.size = static_cast<uint32_t>(code.position()) - read.begin;
      if (read.op == kBlock || read.op == kLoop || read.op == kIf) open.push_back(instructions_.size());
      if (read.op == kEnd && !open.empty()) {
        Instruction& block = instructions_[open.back()];
        block.count = static_cast<uint32_t>(instructions_.size() - open.back());
        open.pop_back();
      }
      makes_calls_ |=
          read.op == kCallIndirect || (read.op == kCall && read.index >= context_.imported_functions);
      needs_numbers_ |= read.op == kMemoryGrow || IsBulk(read.op);
      needs_floats_ |= MayMakeNan(read.op);
      instructions_.push_back(read);
    }
    return code.ok() ? absl::OkStatus() : Broken();
  }

  // How many operands there are at most. In code that is never reached it may say more than there are.
  void MeasureStack() {
    std::vector<Open> open;
    uint32_t height = 0;
    const auto pop = [&](uint32_t count) {
      const uint32_t floor = open.empty() ? 0 : open.back().height;
      height = height - floor > count ? height - count : floor;
    };
    for (const Instruction& read : instructions_) {
      if (read.op == kBlock || read.op == kLoop || read.op == kIf) {
        if (read.op == kIf) pop(1);
        pop(read.params);
        open.push_back({.height = height, .params = read.params, .results = read.results});
        height += read.params;
      } else if (read.op == kElse && !open.empty()) {
        height = open.back().height + open.back().params;
      } else if (read.op == kEnd && !open.empty()) {
        height = open.back().height + open.back().results;
        open.pop_back();
      } else if (read.op == kCall || read.op == kCallIndirect) {
        const uint32_t index = read.op == kCall ? context_.function_types[read.index] : read.index;
        const WasmFunctionType& type = context_.types[index];
        pop(static_cast<uint32_t>(type.params.size()) + (read.op == kCall ? 0 : 1));
        height += static_cast<uint32_t>(type.results.size());
      } else {
        const int change = StackChange(read.op);
        if (change < 0) pop(static_cast<uint32_t>(-change));
        if (change > 0) height += static_cast<uint32_t>(change);
      }
      stack_max_ = std::max(stack_max_, height);
    }
  }

  // ---- Writing ----

  void Put(absl::Span<const uint8_t> bytes) {
    for (const uint8_t byte : bytes) AppendByte(byte, out_);
  }
  void PutIndexed(uint8_t op, uint32_t index) {
    AppendByte(op, out_);
    AppendNumber(index, out_);
  }
  void PutConst(uint8_t op, int64_t value) {
    AppendByte(op, out_);
    AppendSigned(value, out_);
  }
  // With the operands of the comparison.
  void StopIf(uint8_t comparison, WasmStop why) {
    Put({comparison, kIf, kNoResult});
    PutConst(kI32Const, static_cast<int64_t>(why));
    PutIndexed(kGlobalSet, context_.stop_global);
    Put({kUnreachable, kEnd});
  }

  // With the fuel that is left and what to take from it as operands.
  void TakeFuel() {
    AppendByte(kI64Sub, out_);
    PutIndexed(kGlobalSet, context_.fuel_global);
    PutIndexed(kGlobalGet, context_.fuel_global);
    PutConst(kI64Const, 0);
    StopIf(kI64LtS, WasmStop::kFuel);
  }
  void TakeFuelFor(size_t instructions) {
    PutIndexed(kGlobalGet, context_.fuel_global);
    PutConst(kI64Const, static_cast<int64_t>(1 + instructions / kInstructionsPerFuel));
    TakeFuel();
  }

  void CheckDepth() {
    PutIndexed(kGlobalGet, context_.stack_global);
    PutConst(kI32Const, 0);
    StopIf(kI32LtS, WasmStop::kDepth);
  }
  void ChangeStack(uint8_t how) {
    PutIndexed(kGlobalGet, context_.stack_global);
    PutConst(kI32Const, frame_bytes_);
    AppendByte(how, out_);
    PutIndexed(kGlobalSet, context_.stack_global);
  }

  void Copy(const Instruction& read) { out_.append(code_.data() + read.begin, read.size); }

  void WriteCall(const Instruction& read) {
    const bool is_import = read.op == kCall && read.index < context_.imported_functions;
    if (!is_import) ChangeStack(kI32Sub);
    Copy(read);
    if (!is_import) ChangeStack(kI32Add);
  }

  void WriteBulk(const Instruction& read) {
    const bool is_memory = read.op == kMemoryInit || read.op == kMemoryCopy || read.op == kMemoryFill;
    PutIndexed(kLocalTee, number_local_);
    PutIndexed(kGlobalGet, context_.fuel_global);
    PutIndexed(kLocalGet, number_local_);
    AppendByte(kI64ExtendI32U, out_);
    PutConst(kI64Const, is_memory ? 5 : 0);
    AppendByte(kI64ShrU, out_);
    TakeFuel();
    Copy(read);
  }

  // -1 where the guest may not have so much; else what growing says, which is not -1.
  void WriteGrow(const Instruction& read) {
    PutIndexed(kLocalSet, number_local_);
    Put({kMemorySize, 0, kI64ExtendI32U});
    PutIndexed(kLocalGet, number_local_);
    Put({kI64ExtendI32U, kI64Add});
    PutConst(kI64Const, context_.memory_pages_max);
    Put({kI64GtU, kIf, kI32});
    PutConst(kI32Const, -1);
    AppendByte(kElse, out_);
    // An engine may copy the memory.
    PutIndexed(kGlobalGet, context_.fuel_global);
    Put({kMemorySize, 0, kI64ExtendI32U});
    PutConst(kI64Const, 64);
    AppendByte(kI64Mul, out_);
    TakeFuel();
    PutIndexed(kLocalGet, number_local_);
    Copy(read);
    PutIndexed(kLocalTee, number_local_);
    PutConst(kI32Const, -1);
    StopIf(kI32Eq, WasmStop::kNoMemory);
    PutIndexed(kLocalGet, number_local_);
    AppendByte(kEnd, out_);
  }

  void WriteNanCheck(bool is_single) {
    constexpr uint8_t kSingle[] = {kF32Const, 0, 0, 0xc0, 0x7f};
    constexpr uint8_t kDouble[] = {kF64Const, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f};
    const uint32_t local = is_single ? single_local_ : single_local_ + 1;
    PutIndexed(kLocalTee, local);
    if (is_single) {
      Put(kSingle);
    } else {
      Put(kDouble);
    }
    PutIndexed(kLocalGet, local);
    PutIndexed(kLocalGet, local);
    Put({static_cast<uint8_t>(is_single ? kF32Eq : kF64Eq), kSelect});
  }

  void WriteLocals() {
    AppendNumber(local_groups_ + (needs_numbers_ ? 1 : 0) + (needs_floats_ ? 2 : 0), out_);
    out_.append(locals_.data(), locals_.size());
    number_local_ = local_count_;
    single_local_ = local_count_ + (needs_numbers_ ? 1 : 0);
    if (needs_numbers_) Put({1, kI32});
    if (needs_floats_) Put({1, kF32, 1, kF64});
  }

  void Write() {
    WriteLocals();
    TakeFuelFor(instructions_.size());
    if (makes_calls_) CheckDepth();
    for (const Instruction& read : instructions_) {
      if (read.op == kCall || read.op == kCallIndirect) {
        WriteCall(read);
      } else if (read.op == kMemoryGrow) {
        WriteGrow(read);
      } else if (IsBulk(read.op)) {
        WriteBulk(read);
      } else {
        Copy(read);
        if (read.op == kLoop) TakeFuelFor(read.count);
        if (MayMakeNan(read.op)) WriteNanCheck(IsSingle(read.op));
      }
    }
  }

  WasmBytes bytes_;
  const WasmCodeContext& context_;
  absl::string_view locals_;
  absl::string_view code_;
  std::vector<Instruction> instructions_;
  uint32_t local_groups_ = 0;
  uint32_t local_count_;
  uint32_t stack_max_ = 0;
  int32_t frame_bytes_ = 0;
  bool makes_calls_ = false;
  bool needs_numbers_ = false;
  bool needs_floats_ = false;
  // The locals that were added: an i32; an f32 with an f64 behind it.
  uint32_t number_local_ = 0;
  uint32_t single_local_ = 0;
  std::string out_;
};

}  // namespace

absl::StatusOr<std::string> MeterWasmCode(absl::string_view body, const WasmFunctionType& type,
                                          const WasmCodeContext& context) {
  return CodeMeter(body, type, context).Run();
}

std::string StartWasmCall(uint32_t function, int64_t fuel, const WasmCodeContext& context) {
  std::string out;
  AppendNumber(0, out);  // No locals.
  const auto set = [&out](Op type, int64_t value, uint32_t global) {
    AppendByte(type, out);
    AppendSigned(value, out);
    AppendByte(kGlobalSet, out);
    AppendNumber(global, out);
  };
  set(kI64Const, fuel, context.fuel_global);
  set(kI32Const, kWasmStackBytesMax, context.stack_global);
  set(kI32Const, static_cast<int64_t>(WasmStop::kNone), context.stop_global);
  AppendByte(kCall, out);
  AppendNumber(function, out);
  AppendByte(kEnd, out);
  return out;
}

}  // namespace schedsim::hosting
