// wabt's interpreter. This file is compiled as C++ 17: gcc 12 does not take wabt's headers in C++ 20.
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/hosting/wasm/wasm_backends.h"
#include "wabt/binary-reader.h"
#include "wabt/error-formatter.h"
#include "wabt/interp/binary-reader-interp.h"
#include "wabt/interp/interp.h"

namespace schedsim::hosting {
namespace {

namespace interp = wabt::interp;

// More than what MeterWasm lets a guest have, so that the guest always meets that first.
constexpr uint32_t kStackValues = 2 * kWasmStackBytesMax / 8;
constexpr uint32_t kStackFrames = kWasmStackBytesMax / 64;

// A thread of wabt has room for a thousand calls, and no way to ask for more. Templates may name what is
// private when they are instantiated, and so hand it out.
template <typename Tag, typename Tag::Type member>
struct Expose {
  friend typename Tag::Type MemberOf(Tag) { return member; }
};
struct Frames {
  using Type = std::vector<interp::Frame> interp::Thread::*;
  friend Type MemberOf(Frames);
};
struct Operands {
  using Type = std::vector<interp::Value> interp::Thread::*;
  friend Type MemberOf(Operands);
};
template struct Expose<Frames, &interp::Thread::frames_>;
template struct Expose<Operands, &interp::Thread::values_>;

wabt::Features GuestFeatures() {
  wabt::Features features;
  features.disable_simd();
  return features;
}

absl::Status Read(absl::string_view bytes, interp::ModuleDesc& desc) {
  wabt::ReadBinaryOptions options;
  options.features = GuestFeatures();
  options.fail_on_custom_section_error = false;
  wabt::Errors errors;
  const wabt::Result result =
      interp::ReadBinaryInterp("guest", bytes.data(), bytes.size(), options, &errors, &desc);
  if (wabt::Succeeded(result)) return absl::OkStatus();
  const std::string text = errors.empty() ? "no module" : errors.front().message;
  return absl::InvalidArgumentError(text);
}

absl::Status NoMemory() { return WasmTrap(WasmStop::kNoMemory, ""); }

class WabtInstance final : public WasmInstance {
 public:
  WabtInstance(interp::Store& store, WasmHost& host) : store_(store), host_(host) {}
  ~WabtInstance() override {
    thread_.reset();
    memory_.reset();
    instance_.reset();
    store_.Collect();
  }

  absl::Status Make(const interp::Module::Ptr& module) {
    interp::RefVec imports;
    std::vector<interp::HostFunc::Ptr> kept;
    const std::vector<interp::ImportType>& types = module->import_types();
    for (size_t i = 0; i < types.size(); ++i) {
      const auto& type = static_cast<const interp::FuncType&>(*types[i].type);
      kept.push_back(interp::HostFunc::New(
          store_, type,
          [this, i, &type](interp::Thread&, const interp::Values& params, interp::Values& results,
                           interp::Trap::Ptr* trap) { return OnCall(i, type, params, results, trap); }));
      imports.push_back(kept.back()->self());
    }
    interp::Trap::Ptr trap;
    instance_ = interp::Instance::Instantiate(store_, module.ref(), imports, &trap);
    if (!instance_) return WasmTrap(WasmStop::kNone, trap ? trap->message() : "cannot be made");
    if (!instance_->memories().empty()) {
      memory_ = store_.UnsafeGet<interp::Memory>(instance_->memories()[0]);
    }
    thread_ = std::make_unique<interp::Thread>(store_, nullptr);
    ((*thread_).*MemberOf(Frames())).reserve(kStackFrames);
    ((*thread_).*MemberOf(Operands())).reserve(kStackValues);
    return absl::OkStatus();
  }

  absl::StatusOr<WasmWord> Call(size_t exported) override {
    try {
      return Run(exported);
    } catch (const std::bad_alloc&) {
      return NoMemory();
    }
  }

 private:
  WasmStop Stop() const {
    const interp::Ref last = instance_->exports().back();
    return static_cast<WasmStop>(store_.UnsafeGet<interp::Global>(last)->Get().Get<uint32_t>());
  }

  absl::StatusOr<WasmWord> Run(size_t exported) {
    const auto function = store_.UnsafeGet<interp::Func>(instance_->exports()[exported]);
    interp::Values results;
    interp::Trap::Ptr trap;
    host_error_ = absl::OkStatus();
    if (wabt::Failed(function->Call(*thread_, {}, results, &trap))) {
      if (!host_error_.ok()) return host_error_;
      return WasmTrap(Stop(), trap ? trap->message() : "no reason");
    }
    if (results.empty()) return WasmWord{0};
    return function->type().results[0] == wabt::Type::I32 ? WasmWord{results[0].Get<uint32_t>()}
                                                          : results[0].Get<uint64_t>();
  }

  wabt::Result OnCall(size_t import, const interp::FuncType& type, const interp::Values& params,
                      interp::Values& results, interp::Trap::Ptr* trap) {
    args_.clear();
    for (size_t i = 0; i < params.size(); ++i) {
      args_.push_back(type.params[i] == wabt::Type::I32 ? WasmWord{params[i].Get<uint32_t>()}
                                                        : params[i].Get<uint64_t>());
    }
    WasmMemory memory;
    if (memory_) memory = {memory_->UnsafeData(), static_cast<size_t>(memory_->ByteSize())};
    WasmWord result = 0;
    host_error_ = host_.OnCall(import, args_, memory, result);
    if (!host_error_.ok()) {
      *trap = interp::Trap::New(store_, std::string(host_error_.message()));
      return wabt::Result::Error;
    }
    if (!results.empty()) {
      results[0] = type.results[0] == wabt::Type::I32 ? interp::Value::Make(static_cast<uint32_t>(result))
                                                      : interp::Value::Make(result);
    }
    return wabt::Result::Ok;
  }

  interp::Store& store_;
  WasmHost& host_;
  interp::Instance::Ptr instance_;
  interp::Memory::Ptr memory_;
  std::unique_ptr<interp::Thread> thread_;
  std::vector<WasmWord> args_;
  absl::Status host_error_;
};

class WabtProgram final : public WasmProgram {
 public:
  WabtProgram() : store_(GuestFeatures()) {}

  absl::Status Load(const WasmModule& module) {
    interp::ModuleDesc desc;
    const absl::Status read = Read(module.metered, desc);
    if (!read.ok()) return read;
    module_ = interp::Module::New(store_, std::move(desc));
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<WasmInstance>> Instantiate(WasmHost& host) override {
    try {
      auto instance = std::make_unique<WabtInstance>(store_, host);
      const absl::Status made = instance->Make(module_);
      if (!made.ok()) return made;
      return instance;
    } catch (const std::bad_alloc&) {
      return NoMemory();
    }
  }

 private:
  interp::Store store_;
  interp::Module::Ptr module_;
};

}  // namespace

std::string WabtVersion() { return absl::StrCat("wabt ", SCHEDSIM_WABT_VERSION, " (interpreter)"); }

absl::Status ValidateWasm(absl::string_view bytes) {
  interp::ModuleDesc desc;
  return Read(bytes, desc);
}

absl::StatusOr<std::unique_ptr<WasmProgram>> LoadWabt(const WasmModule& module) {
  auto program = std::make_unique<WabtProgram>();
  const absl::Status loaded = program->Load(module);
  if (!loaded.ok()) return loaded;
  return program;
}

}  // namespace schedsim::hosting
