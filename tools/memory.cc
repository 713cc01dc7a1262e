// Where the program's small objects live: a simulation makes and drops many for each pod, of few sizes, on
// one thread. A free list for each size serves them in some ten instructions; malloc takes ten times as many.
// Replaces operator new and delete; the program starts no threads.

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// Sanitizers have an allocator of their own, which finds what is used after its end.
#if !defined(__SANITIZE_ADDRESS__)

namespace schedsim::tools {
namespace {

// Sizes are rounded up to a multiple of this, which is what any object may be aligned to.
constexpr size_t kStep = 16;
// Larger objects are malloc's.
constexpr size_t kSmallMax = 2048;
constexpr size_t kSizes = kSmallMax / kStep + 1;
// All objects of a block have one size. Half of the newest block of a size is empty on average, and there are
// some hundred sizes.
constexpr size_t kBlockBits = 15;
constexpr size_t kBlockBytes = size_t{1} << kBlockBits;
// All blocks lie in one range of addresses, so that their objects are known by their address. Memory is taken
// where it is touched only.
constexpr size_t kRangeBytes = size_t{1} << 34;
// So much at the start of it has pages of the usual size.
constexpr size_t kSmallPagesBytes = size_t{1} << 24;

struct FreeObject {
  FreeObject* next;
};

// The objects of one size.
struct Size {
  FreeObject* free = nullptr;
  // What is left of the newest block.
  std::byte* rest = nullptr;
  size_t rest_count = 0;
};

std::array<Size, kSizes> sizes;
std::byte* range = nullptr;  // nullptr: not asked for yet, or refused.
bool was_asked = false;
size_t block_count = 0;
// By block: the size of its objects, in steps.
std::array<uint8_t, kRangeBytes / kBlockBytes> steps_of_block;

bool IsInRange(const void* object) {
  return range != nullptr && static_cast<size_t>(static_cast<const std::byte*>(object) - range) < kRangeBytes;
}

// As operator new of the standard library does it, but that the program ends where main has not set a
// handler.
void* NewLarge(size_t bytes) {
  for (;;) {
    void* const object = std::malloc(bytes == 0 ? 1 : bytes);
    if (object != nullptr) return object;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) std::abort();
    handler();
  }
}

// Gives the size a new block. False: there is none, where the addresses are used up or refused.
bool AddBlock(size_t steps) {
  if (!was_asked) {
    was_asked = true;
    void* const given = mmap(nullptr, kRangeBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (given != MAP_FAILED) range = static_cast<std::byte*>(given);
    // Blocks lie side by side, so that large pages are filled: they are touched once where small ones are
    // touched hundreds of times. Small runs do without, and take no more than they need.
    if (range != nullptr) madvise(range + kSmallPagesBytes, kRangeBytes - kSmallPagesBytes, MADV_HUGEPAGE);
  }
  if (range == nullptr || block_count == steps_of_block.size()) return false;
  steps_of_block[block_count] = static_cast<uint8_t>(steps);
  sizes[steps].rest = range + block_count * kBlockBytes;
  sizes[steps].rest_count = kBlockBytes / (steps * kStep);
  ++block_count;
  return true;
}

// Where no object of the size is free.
[[gnu::noinline]] void* NewFromBlock(size_t steps) {
  Size& size = sizes[steps];
  if (size.rest_count == 0 && !AddBlock(steps)) return NewLarge(steps * kStep);
  void* const object = size.rest;
  size.rest += steps * kStep;
  --size.rest_count;
  return object;
}

void* New(size_t bytes) {
  if (bytes > kSmallMax) return NewLarge(bytes);
  const size_t steps = bytes == 0 ? 1 : (bytes + kStep - 1) / kStep;
  Size& size = sizes[steps];
  FreeObject* const object = size.free;
  if (object == nullptr) return NewFromBlock(steps);
  size.free = object->next;
  return object;
}

void Delete(void* object) {
  if (!IsInRange(object)) {
    std::free(object);
    return;
  }
  const size_t block = static_cast<size_t>(static_cast<std::byte*>(object) - range) >> kBlockBits;
  Size& size = sizes[steps_of_block[block]];
  auto* const free = static_cast<FreeObject*>(object);
  free->next = size.free;
  size.free = free;
}

}  // namespace
}  // namespace schedsim::tools

void* operator new(size_t bytes) { return schedsim::tools::New(bytes); }
void operator delete(void* object) noexcept { schedsim::tools::Delete(object); }
void operator delete(void* object, size_t /*bytes*/) noexcept { schedsim::tools::Delete(object); }

#endif
