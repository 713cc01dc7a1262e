// SpiderMonkey, of which nothing but its compiler of WebAssembly is used: a few lines of script make modules
// and instances, all else goes through the C++ interface.
#include <sys/resource.h>

#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/hosting/library/plugin_call.h"
#include "core/hosting/wasm/wasm_backends.h"
#include "js/ArrayBuffer.h"
#include "js/BigInt.h"
#include "js/CallAndConstruct.h"
#include "js/CompilationAndEvaluation.h"
#include "js/ContextOptions.h"
#include "js/Conversions.h"
#include "js/GCAPI.h"
#include "js/Initialization.h"
#include "js/Object.h"
#include "js/PropertyAndElement.h"
#include "js/Realm.h"
#include "js/SourceText.h"
#include "js/Stack.h"
#include "js/String.h"
#include "jsapi.h"
#include "jsfriendapi.h"

namespace schedsim::hosting {
namespace {

// Frames of compiled code take as much as MeterWasm counts; with this much a guest always meets its own end
// first.
constexpr size_t kEngineStackBytes = size_t{6} << 20;
constexpr size_t kStackBytesMin = size_t{8} << 20;
// So many instances may be gone before their memory is given back.
constexpr int kInstancesPerCollection = 16;

constexpr JSClass kGlobalClass = {"global", JSCLASS_GLOBAL_FLAGS, &JS::DefaultGlobalClassOps};

// The engine, one for the program, made when the first guest is loaded.
class Mozjs {
 public:
  static Mozjs& Get() {
    static Mozjs engine;
    return engine;
  }
  ~Mozjs() {
    make_module_.reset();
    make_instance_.reset();
    global_.reset();
    if (context_ == nullptr) return;
    JS::LeaveRealm(context_, nullptr);
    JS_DestroyContext(context_);
    JS_ShutDown();
  }

  // Why it cannot be used here.
  const absl::Status& status() const { return status_; }
  JSContext* context() const { return context_; }

  bool MakeModule(absl::string_view bytes, JS::MutableHandleValue module) {
    JSObject* const buffer = JS::NewArrayBuffer(context_, bytes.size());
    if (buffer == nullptr) return false;
    JS::RootedValue value(context_, JS::ObjectValue(*buffer));
    {
      const JS::AutoCheckCannotGC no_gc;
      bool is_shared = false;
      uint8_t* const data = JS::GetArrayBufferData(buffer, &is_shared, no_gc);
      std::copy(bytes.begin(), bytes.end(), data);
    }
    return JS::Call(context_, JS::UndefinedHandleValue, make_module_, JS::HandleValueArray(value), module);
  }
  // Sets `exports`.
  bool MakeInstance(JS::HandleValue module, JS::HandleValue imports, JS::MutableHandleValue exports) {
    JS::RootedValueArray<2> args(context_);
    args[0].set(module);
    args[1].set(imports);
    return JS::Call(context_, JS::UndefinedHandleValue, make_instance_, args, exports);
  }

  // What the pending exception says, which is taken away.
  std::string TakeError() {
    JS::RootedValue error(context_);
    if (!JS_GetPendingException(context_, &error)) return "no reason";
    JS_ClearPendingException(context_);
    JS::RootedString text(context_, JS::ToString(context_, error));
    if (text == nullptr) return "no words";
    const JS::UniqueChars chars = JS_EncodeStringToUTF8(context_, text);
    return chars == nullptr ? "no words" : std::string(chars.get());
  }

  void OnInstanceGone() {
    if (++gone_ % kInstancesPerCollection == 0) JS_GC(context_);
  }

 private:
  Mozjs() {
    rlimit stack = {};
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur < kStackBytesMin) {
      status_ =
          absl::UnavailableError(absl::StrCat("mozjs needs a stack of ", kStackBytesMin,
                                              " bytes, expected a larger `ulimit -s` or --wasm-engine wabt"));
      return;
    }
    // What stops a guest is a signal to the engine, also while a library's plugin waits for what it asked. So
    // the engine's handler lies over that of libraries, to which it passes on what is not its own.
    PluginCall::InstallCrashHandler();
    const bool started = JS_Init() && JS::DisableWasmHugeMemory() && Start();
    if (!started) {
      status_ = absl::UnavailableError(
          "mozjs cannot be used on this machine (it needs memory that may be executed), expected "
          "--wasm-engine wabt");
    }
  }

  bool Start() {
    context_ = JS_NewContext(JS::DefaultHeapMaxBytes);
    if (context_ == nullptr || !JS::InitSelfHostedCode(context_)) return false;
    JS_SetNativeStackQuota(context_, kEngineStackBytes);
    // Code that is compiled once runs alike from the first call on.
    JS::ContextOptionsRef(context_).setWasm(true).setWasmIon(true).setWasmBaseline(false);
    JS::RealmOptions options;
    global_.init(context_,
                 JS_NewGlobalObject(context_, &kGlobalClass, nullptr, JS::FireOnNewGlobalHook, options));
    if (global_ == nullptr) return false;
    JS::EnterRealm(context_, global_);
    make_module_.init(context_);
    make_instance_.init(context_);
    return Evaluate("(buffer) => new WebAssembly.Module(buffer)", &make_module_) &&
           Evaluate("(module, imports) => new WebAssembly.Instance(module, imports).exports",
                    &make_instance_) &&
           Probe();
  }

  bool Evaluate(absl::string_view text, JS::MutableHandleValue value) {
    JS::CompileOptions options(context_);
    JS::SourceText<mozilla::Utf8Unit> source;
    return source.init(context_, text.data(), text.size(), JS::SourceOwnership::Borrowed) &&
           JS::Evaluate(context_, options, source, value);
  }

  // Whether a module without anything can be made.
  bool Probe() {
    JS::RootedValue module(context_);
    return MakeModule(absl::string_view("\0asm\1\0\0\0", 8), &module);
  }

  JSContext* context_ = nullptr;
  JS::PersistentRootedObject global_;
  JS::PersistentRootedValue make_module_;
  JS::PersistentRootedValue make_instance_;
  absl::Status status_;
  int gone_ = 0;
};

class MozjsInstance final : public WasmInstance {
 public:
  MozjsInstance(const WasmModule& module, WasmHost& host)
      : module_(module), host_(host), context_(Mozjs::Get().context()) {}
  ~MozjsInstance() override {
    functions_.clear();
    memory_.reset();
    stop_.reset();
    Mozjs::Get().OnInstanceGone();
  }

  absl::Status Make(JS::HandleValue program) {
    JS::RootedValue imports(context_);
    JS::RootedValue exports(context_);
    if (!MakeImports(&imports) || !Mozjs::Get().MakeInstance(program, imports, &exports)) {
      const std::string text = Mozjs::Get().TakeError();
      // A memory that the machine does not give.
      return WasmTrap(text.find("memory") == std::string::npos ? WasmStop::kNone : WasmStop::kNoMemory, text);
    }
    JS::RootedObject object(context_, &exports.toObject());
    for (const WasmExport& exported : module_.exports) {
      JS::RootedValue value(context_);
      if (!JS_GetProperty(context_, object, exported.name.c_str(), &value)) return Unreadable();
      functions_.emplace_back(context_, value);
      if (exported.kind == WasmKind::kMemory) memory_.init(context_, &value.toObject());
    }
    JS::RootedValue stop(context_);
    if (!JS_GetProperty(context_, object, kStopExport, &stop)) return Unreadable();
    stop_.init(context_, &stop.toObject());
    return absl::OkStatus();
  }

  absl::StatusOr<WasmWord> Call(size_t exported) override {
    JS::RootedValue result(context_);
    host_error_ = absl::OkStatus();
    if (!JS::Call(context_, JS::UndefinedHandleValue, functions_[exported], JS::HandleValueArray::empty(),
                  &result)) {
      const std::string text = JS_IsExceptionPending(context_) ? Mozjs::Get().TakeError() : "no reason";
      return host_error_.ok() ? WasmTrap(Stop(), text) : host_error_;
    }
    if (result.isBigInt()) return JS::ToBigUint64(result.toBigInt());
    if (result.isInt32()) return WasmWord{static_cast<uint32_t>(result.toInt32())};
    return WasmWord{0};
  }

 private:
  static absl::Status Unreadable() {
    return absl::InternalError(absl::StrCat("an export cannot be read: ", Mozjs::Get().TakeError()));
  }

  // { module: { name: function } }
  bool MakeImports(JS::MutableHandleValue imports) {
    JS::RootedObject all(context_, JS_NewPlainObject(context_));
    if (all == nullptr) return false;
    for (size_t i = 0; i < module_.imports.size(); ++i) {
      const WasmImport& import = module_.imports[i];
      JS::RootedValue value(context_);
      if (!JS_GetProperty(context_, all, import.module.c_str(), &value)) return false;
      if (!value.isObject()) {
        JSObject* const made = JS_NewPlainObject(context_);
        if (made == nullptr) return false;
        value.setObject(*made);
        if (!JS_SetProperty(context_, all, import.module.c_str(), value)) return false;
      }
      JS::RootedObject object(context_, &value.toObject());
      JSFunction* const function = js::NewFunctionWithReserved(
          context_, &MozjsInstance::OnImport, static_cast<unsigned>(import.type.params.size()), 0, "import");
      if (function == nullptr) return false;
      JS::RootedObject callee(context_, JS_GetFunctionObject(function));
      js::SetFunctionNativeReserved(callee, 0, JS::PrivateValue(this));
      js::SetFunctionNativeReserved(callee, 1, JS::Int32Value(static_cast<int32_t>(i)));
      value.setObject(*callee);
      if (!JS_SetProperty(context_, object, import.name.c_str(), value)) return false;
    }
    imports.setObject(*all);
    return true;
  }

  WasmStop Stop() {
    JS::RootedValue value(context_);
    const bool read = JS_GetProperty(context_, stop_, "value", &value) && value.isInt32();
    if (!read) JS_ClearPendingException(context_);
    return read ? static_cast<WasmStop>(value.toInt32()) : WasmStop::kNone;
  }

  static bool OnImport(JSContext* /*context*/, unsigned count, JS::Value* values) {
    const JS::CallArgs args = JS::CallArgsFromVp(count, values);
    JSObject& callee = args.callee();
    auto* const self = static_cast<MozjsInstance*>(js::GetFunctionNativeReserved(&callee, 0).toPrivate());
    return self->OnCall(static_cast<size_t>(js::GetFunctionNativeReserved(&callee, 1).toInt32()), args);
  }

  bool OnCall(size_t import, const JS::CallArgs& args) {
    args_.clear();
    for (unsigned i = 0; i < args.length(); ++i) {
      const JS::Value& value = args[i];
      args_.push_back(value.isBigInt() ? JS::ToBigUint64(value.toBigInt())
                                       : WasmWord{static_cast<uint32_t>(value.toInt32())});
    }
    WasmMemory memory;
    if (memory_.initialized() && !ReadMemory(memory)) return false;
    WasmWord result = 0;
    host_error_ = host_.OnCall(import, args_, memory, result);
    // Without an exception the guest cannot catch what stops it.
    if (!host_error_.ok()) return false;
    if (!module_.imports[import].type.results.empty()) {
      args.rval().setInt32(static_cast<int32_t>(static_cast<uint32_t>(result)));
    }
    return true;
  }

  // Growing gives the memory another buffer. The host keeps nothing of it, and runs nothing of the engine's.
  bool ReadMemory(WasmMemory& memory) {
    JS::RootedValue buffer(context_);
    if (!JS_GetProperty(context_, memory_, "buffer", &buffer)) return false;
    size_t size = 0;
    bool is_shared = false;
    uint8_t* data = nullptr;
    JS::GetArrayBufferLengthAndData(&buffer.toObject(), &size, &is_shared, &data);
    memory = {data, size};
    return true;
  }

  const WasmModule& module_;
  WasmHost& host_;
  JSContext* const context_;
  // Shape: one for each of the module's exports.
  std::deque<JS::PersistentRootedValue> functions_;
  JS::PersistentRootedObject memory_;
  JS::PersistentRootedObject stop_;
  std::vector<WasmWord> args_;
  absl::Status host_error_;
};

class MozjsProgram final : public WasmProgram {
 public:
  explicit MozjsProgram(const WasmModule& module) : module_(module), program_(Mozjs::Get().context()) {}

  absl::Status Load() {
    if (Mozjs::Get().MakeModule(module_.metered, &program_)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("mozjs cannot compile the guest: ", Mozjs::Get().TakeError()));
  }

  absl::StatusOr<std::unique_ptr<WasmInstance>> Instantiate(WasmHost& host) override {
    auto instance = std::make_unique<MozjsInstance>(module_, host);
    const absl::Status made = instance->Make(program_);
    if (!made.ok()) return made;
    return instance;
  }

 private:
  const WasmModule& module_;
  JS::PersistentRootedValue program_;
};

}  // namespace

const bool kHasMozjs = true;

std::string MozjsVersion() { return absl::StrCat("mozjs ", SCHEDSIM_MOZJS_VERSION, " (compiler)"); }

absl::StatusOr<std::unique_ptr<WasmProgram>> LoadMozjs(const WasmModule& module) {
  const absl::Status& status = Mozjs::Get().status();
  if (!status.ok()) return status;
  auto program = std::make_unique<MozjsProgram>(module);
  const absl::Status loaded = program->Load();
  if (!loaded.ok()) return loaded;
  return program;
}

}  // namespace schedsim::hosting
