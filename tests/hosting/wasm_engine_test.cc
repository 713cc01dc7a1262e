// What a guest may do and have, on each engine of the build: the results are the same.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/hosting/library/plugin_call.h"
#include "core/hosting/wasm/guest_code.h"
#include "core/hosting/wasm/wasm_engine.h"
#include "gtest/gtest.h"
#include "tests/hosting/wat.h"

namespace schedsim::hosting {
namespace {

constexpr int64_t kFuel = 100'000;

// Answers with what a test wants.
struct TestHost final : WasmHost {
  absl::Status OnCall(size_t, absl::Span<const WasmWord> args, WasmMemory memory, WasmWord& result) override {
    return on_call(args, memory, result);
  }
  std::function<absl::Status(absl::Span<const WasmWord>, WasmMemory, WasmWord&)> on_call =
      [](absl::Span<const WasmWord>, WasmMemory, WasmWord&) { return absl::OkStatus(); };
};

// What each call of the exported functions of a module gives, in their order, as the engine says it.
std::string Results(WasmEngine engine, absl::string_view text, TestHost host = {}, int64_t fuel = kFuel) {
  const absl::StatusOr<WasmModule> module = MeterWasm(WasmOfText(text), fuel);
  if (!module.ok()) return std::string(module.status().message());
  const absl::StatusOr<std::unique_ptr<WasmProgram>> program = LoadWasm(engine, *module);
  if (!program.ok()) return std::string(program.status().message());
  std::string results;
  for (size_t i = 0; i < module->exports.size(); ++i) {
    if (module->exports[i].kind != WasmKind::kFunction) continue;
    // A fresh one for each: one that failed is of no use any more.
    const absl::StatusOr<std::unique_ptr<WasmInstance>> instance = (*program)->Instantiate(host);
    if (!instance.ok()) return std::string(instance.status().message());
    const absl::StatusOr<WasmWord> result = (*instance)->Call(i);
    absl::StrAppend(&results, results.empty() ? "" : "; ", module->exports[i].name, " ",
                    result.ok() ? absl::StrCat(absl::Hex(*result)) : std::string(result.status().message()));
  }
  return results;
}

void ExpectOnAll(absl::string_view text, absl::string_view results, const TestHost& host = {}) {
  for (const WasmEngine engine : WasmEngines()) {
    EXPECT_EQ(Results(engine, text, host), results) << WasmEngineName(engine);
  }
}

TEST(WasmEngine, GivesResults) {
  ExpectOnAll(R"((module (func (export "a") (result i32) (i32.const -1))
                         (func (export "b") (result i64) (i64.const -2))
                         (func (export "c"))))",
              "a ffffffff; b fffffffffffffffe; c 0");
}

TEST(WasmEngine, StopsWhatDoesNotEnd) {
  ExpectOnAll(R"((module (func (export "a") (loop (br 0)))))",
              "a wasm error: the call did not come to an end");
}

TEST(WasmEngine, CountsEachRoundOfALoop) {
  constexpr absl::string_view kLoop = R"((module (func (export "a") (result i32) (local i32)
      (loop (local.set 0 (i32.add (local.get 0) (i32.const 1)))
            (br_if 0 (i32.lt_u (local.get 0) (i32.const 1000))))
      (local.get 0))))";
  for (const WasmEngine engine : WasmEngines()) {
    EXPECT_EQ(Results(engine, kLoop, {}, 1001), "a 3e8") << WasmEngineName(engine);
    EXPECT_EQ(Results(engine, kLoop, {}, 1000), "a wasm error: the call did not come to an end");
  }
}

TEST(WasmEngine, StartsTheCountAnewInEachCall) {
  const absl::StatusOr<WasmModule> module = MeterWasm(WasmOfText(R"((module (func (export "a") (local i32)
          (loop (local.set 0 (i32.add (local.get 0) (i32.const 1)))
                (br_if 0 (i32.lt_u (local.get 0) (i32.const 900)))))))"),
                                                      1000);
  ASSERT_TRUE(module.ok());
  for (const WasmEngine engine : WasmEngines()) {
    const auto program = LoadWasm(engine, *module);
    ASSERT_TRUE(program.ok());
    TestHost host;
    const auto instance = (*program)->Instantiate(host);
    ASSERT_TRUE(instance.ok());
    for (int i = 0; i < 5; ++i) EXPECT_TRUE((*instance)->Call(0).ok()) << i;
  }
}

TEST(WasmEngine, StopsRecursionWithoutEnd) {
  ExpectOnAll(R"((module (func $f (export "a") (result i32) (call $f))))", "a wasm error: stack overflow");
}

TEST(WasmEngine, LetsCallsGoDeep) {
  ExpectOnAll(R"((module
      (func $f (param i32) (result i32)
        (if (result i32) (local.get 0)
          (then (i32.add (i32.const 1) (call $f (i32.sub (local.get 0) (i32.const 1)))))
          (else (i32.const 0))))
      (func (export "a") (result i32) (call $f (i32.const 10000)))))",
              "a 2710");
}

TEST(WasmEngine, NamesWhatAGuestDidWrong) {
  ExpectOnAll(R"((module
      (memory 1) (table 1 funcref) (type $t (func (result i32)))
      (func (export "memory") (result i32) (i32.load (i32.const -8)))
      (func (export "zero") (result i32) (i32.div_s (i32.const 1) (i32.const 0)))
      (func (export "overflow") (result i32) (i32.div_s (i32.const 0x80000000) (i32.const -1)))
      (func (export "number") (result i32) (i32.trunc_f32_s (f32.const nan)))
      (func (export "gave_up") unreachable)
      (func (export "no_function") (result i32) (call_indirect (type $t) (i32.const 0)))
      (func (export "table") (result i32) (call_indirect (type $t) (i32.const 7)))))",
              "memory wasm error: out of bounds access; zero wasm error: integer divide by zero; "
              "overflow wasm error: integer overflow; number wasm error: invalid conversion to integer; "
              "gave_up wasm error: unreachable; no_function wasm error: invalid table access; "
              "table wasm error: out of bounds access");
}

// A plugin of a library may have asked for the filters, of which a guest is one.
TEST(WasmEngine, StopsGuestsWhereALibraryIsLoadedLater) {
  constexpr absl::string_view kStops = R"((module (memory 1)
      (func (export "memory") (result i32) (i32.load (i32.const -8)))
      (func (export "gave_up") unreachable)))";
  constexpr absl::string_view kStopped =
      "memory wasm error: out of bounds access; gave_up wasm error: unreachable";
  ExpectOnAll(kStops, kStopped);
  PluginCall::InstallCrashHandler();
  const PluginCall at_work("Mine", "Filter", /*pod=*/nullptr);
  ExpectOnAll(kStops, kStopped);
}

TEST(WasmEngine, BoundsMemory) {
  ExpectOnAll(R"((module (memory 1)
      (func (export "all") (result i32) (memory.grow (i32.const 4095)))
      (func (export "more") (result i32) (memory.grow (i32.const 4096)))
      (func (export "most") (result i32) (memory.grow (i32.const -1)))
      (func (export "none") (result i32) (i32.add (memory.grow (i32.const 0)) (memory.size)))))",
              "all 1; more ffffffff; most ffffffff; none 2");
}

TEST(WasmEngine, BoundsWhatIsMovedAtOnce) {
  ExpectOnAll(R"((module (memory 16) (func (export "a")
      (loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x100000)) (br 0)))))",
              "a wasm error: the call did not come to an end");
}

TEST(WasmEngine, HasOnePatternForWhatIsNoNumber) {
  ExpectOnAll(R"((module
      (func (export "a") (result i32) (i32.reinterpret_f32 (f32.div (f32.const 0) (f32.const -0))))
      (func (export "b") (result i64) (i64.reinterpret_f64 (f64.add (f64.const nan:0x123) (f64.const 1))))
      (func (export "c") (result i32) (i32.reinterpret_f32 (f32.add (f32.const 1) (f32.const 2))))
      (func (export "d") (result i64) (i64.reinterpret_f64 (f64.sqrt (f64.const -1))))))",
              "a 7fc00000; b 7ff8000000000000; c 40400000; d 7ff8000000000000");
}

TEST(WasmEngine, CallsTheHost) {
  TestHost host;
  host.on_call = [](absl::Span<const WasmWord> args, WasmMemory memory, WasmWord& result) -> absl::Status {
    if (args[0] == 0) return absl::AbortedError("wasm error: the host says no");
    memory[args[0]] = 7;
    result = args[0] + args[1];
    return absl::OkStatus();
  };
  ExpectOnAll(R"((module (import "m" "f" (func $f (param i32 i64) (result i32))) (memory (export "memory") 1)
      (func (export "a") (result i32)
        (i32.add (call $f (i32.const 100) (i64.const 5)) (i32.load8_u (i32.const 100))))
      (func (export "b") (result i32) (call $f (i32.const 0) (i64.const 0)))
      (func (export "c") (result i32) (drop (memory.grow (i32.const 3)))
        (drop (call $f (i32.const 0x30000) (i64.const 0))) (i32.load8_u (i32.const 0x30000)))))",
              "a 70; b wasm error: the host says no; c 7", host);
}

TEST(WasmEngine, RefusesWhatNoGuestNeeds) {
  const auto refusal = [](absl::string_view text) { return Results(WasmEngine::kInterpreter, text); };
  EXPECT_EQ(refusal("(module (memory 5000))"),
            "a memory in pages of 5000 from the start, expected at most 4096");
  EXPECT_EQ(refusal(R"((module (import "m" "g" (global i32))))"),
            "imports \"g\" of \"m\", which is no function, expected imports of functions alone");
  std::string locals;
  for (int i = 0; i < 40'000; ++i) absl::StrAppend(&locals, " i64");
  EXPECT_EQ(refusal(absl::StrCat("(module (func (local", locals, ")))")),
            "a function whose calls need 320096 bytes of stack, expected at most 262144");
}

// ---- Guests ----

std::string LoadError(absl::string_view text) {
  const auto code = LoadGuest("a.wasm", WasmOfText(text), WasmEngine::kInterpreter, kFuel);
  return code.ok() ? (*code)->Note() : std::string(code.status().message());
}

TEST(GuestCode, IsRefusedInTheRealHostsWords) {
  EXPECT_EQ(LoadGuest("a", "no module", WasmEngine::kInterpreter, kFuel).status().message(),
            "wasm: error compiling guest: bad magic value");
  EXPECT_EQ(LoadError("(module)"), "wasm: guest doesn't export memory[memory]");
  EXPECT_EQ(LoadError(R"((module (memory (export "memory") 1)))"),
            "wasm: guest does not export any plugin functions");
  EXPECT_EQ(
      LoadError(
          R"((module (memory (export "memory") 1) (func (export "score") (result i32) (i32.const 0))))"),
      "wasm: guest exports the wrong signature for func[score]. should be () -> (i64)");
  EXPECT_EQ(
      LoadError(
          R"((module (memory (export "memory") 1) (func (export "prescore") (result i32) (i32.const 0))))"),
      "wasm: filter, score, reserve, permit or bind must be exported");
  EXPECT_EQ(LoadError(R"((module (import "env" "f" (func)) (memory (export "memory") 1)
                          (func (export "filter") (result i32) (i32.const 0))))"),
            "wasm: guest imports the function \"f\" of \"env\", which the host does not have");
  EXPECT_EQ(LoadError(R"((module (import "k8s.io/klog" "log" (func (param i32))) (memory (export "memory") 1)
                          (func (export "filter") (result i32) (i32.const 0))))"),
            "wasm: guest imports the function \"log\" of \"k8s.io/klog\" as (i32) -> (), expected "
            "(i32, i32, i32) -> ()");
}

TEST(GuestCode, SaysWhatTheRealHostWouldNotLoad) {
  EXPECT_EQ(
      LoadError(R"((module (memory (export "memory") 1) (func (export "reserve") (result i32) (i32.const 0))
                          (func (export "permit") (result i64) (i64.const 0))))"),
      "exports a set of functions that kube-scheduler-wasm-extension refuses (\"wasm: filter, score, "
      "reserve, "
      "permit or bind must be exported\")");
  EXPECT_EQ(
      LoadError(
          R"((module (memory (export "memory") 1) (func (export "filter") (result i32) (i32.const 0))))"),
      "");
}

}  // namespace
}  // namespace schedsim::hosting
