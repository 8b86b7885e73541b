#include "tests/cuda/emulation/races.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tests/cuda/emulation/emulation.h"

namespace dynet::emulation {
namespace {

// A thread as one number: its block, and its lane from 1 on. Zero is nobody.
constexpr std::uint32_t kLaneBits = 11,
                        kLanes = (1u << kLaneBits) - 1;  // kLanes: several of a block
constexpr std::uint32_t kSeveralBlocks = ~std::uint32_t{0};

// Last accesses to a word, in the kernel (or for shared memory in the block) number `epoch`.
struct Word {
  std::uint32_t epoch;
  std::uint16_t write_barriers, read_barriers;
  std::uint32_t writer, reader;
};

struct Window {
  std::uintptr_t begin = 0, end = 0;
  Word* words = nullptr;

  bool holds(std::uintptr_t p) const { return p - begin < end - begin; }
};

constexpr std::size_t kMostWindows = kDevices;
std::array<Window, kMostWindows> windows;
std::atomic<std::size_t> window_count = 0;
std::atomic<std::uint32_t> epochs = 0;
thread_local std::size_t last_window = 0;  // of the last access: the next one is often there, too

struct Detector {
  std::uint32_t kernel = 0, block = 0;  // epochs
  Window shared;
  std::size_t shared_bytes = 0;
  std::vector<Word> shared_words = std::vector<Word>(kSharedBytes / 4);
  std::string found;
};
thread_local Detector* detector = nullptr;
thread_local const Accessor* accessor = nullptr;

std::string name(std::uint32_t thread) {
  if (thread == kSeveralBlocks) return "threads of several blocks";
  const std::string block = "of block " + std::to_string(thread >> kLaneBits);
  const std::uint32_t lane = thread & kLanes;
  return lane == kLanes ? "several threads " + block
                        : "thread " + std::to_string(lane - 1) + " " + block;
}

void report(const char* what, const void* code, std::uint32_t me, std::uint32_t other) {
  Dl_info image{};
  dladdr(code, &image);
  std::ostringstream text;
  text << "a race between " << name(me) << " and " << name(other) << " of a kernel: " << what
       << ", by the code at 0x" << std::hex
       << static_cast<const char*>(code) - static_cast<const char*>(image.dli_fbase) << " of "
       << (image.dli_fname ? image.dli_fname : "the program");
  detector->found = text.str();
}

bool ordered(std::uint32_t other, std::uint16_t barriers, std::uint32_t me, unsigned now) {
  return other == 0 || other == me ||
         (other != kSeveralBlocks && other >> kLaneBits == me >> kLaneBits && barriers < now);
}

void touch_words(const Window& window, std::uint32_t epoch, std::uintptr_t p, std::size_t bytes,
                 bool write, const void* code) {
  const std::uint32_t me = accessor->block << kLaneBits | (accessor->lane + 1);
  const unsigned now = accessor->barriers;
  const auto at = static_cast<std::uint16_t>(now);
  for (std::size_t k = (p - window.begin) / 4, end = (p + bytes - window.begin + 3) / 4; k < end;
       ++k) {
    Word& w = window.words[k];
    if (w.epoch != epoch) w = {epoch, 0, 0, 0, 0};
    if (!ordered(w.writer, w.write_barriers, me, now))
      report(write ? "both write a word" : "a word is read that the other one writes", code, me,
             w.writer);
    if (write && !ordered(w.reader, w.read_barriers, me, now))
      report("a word is written that the other one reads", code, me, w.reader);
    if (write) {
      w.writer = me, w.write_barriers = at;
    } else if (w.reader != me) {
      const bool same_block =
          w.reader >> kLaneBits == me >> kLaneBits && w.reader != kSeveralBlocks;
      if (w.reader == 0 || (same_block && w.read_barriers < now))
        w.reader = me;
      else
        w.reader = same_block ? (me | kLanes) : kSeveralBlocks;
      w.read_barriers = at;
    } else {
      w.read_barriers = at;
    }
  }
}

void touch(const void* where, std::size_t bytes, bool write, const void* code) {
  if (!accessor || !detector->found.empty()) return;
  const auto p = reinterpret_cast<std::uintptr_t>(where);
  if (detector->shared.holds(p)) {
    if (p + bytes > detector->shared.begin + detector->shared_bytes) {
      detector->found = "a block touches shared memory behind what it has";
      return;
    }
    return touch_words(detector->shared, detector->block, p, bytes, write, code);
  }
  std::size_t w = last_window;
  if (!windows[w].holds(p)) {
    const std::size_t n = window_count;
    for (w = 0; w < n && !windows[w].holds(p);) ++w;
    if (w == n) return;
    last_window = w;
  }
  if (!accessor->waited)
    detector->found = "a kernel touches memory before it has waited for the one before";
  touch_words(windows[w], detector->kernel, p, bytes, write, code);
}

// CUDA ends a kernel that does this.
void note_misaligned(const char* file, unsigned line, const void* p) {
  if (!accessor || !detector->found.empty()) return;
  std::ostringstream text;
  text << "a load or store of " << name(accessor->block << kLaneBits | (accessor->lane + 1))
       << " at " << p << " is not aligned: " << file << ':' << line;
  detector->found = text.str();
}

}  // namespace

void watch_memory(const void* begin, std::size_t bytes) {
  void* const words = mmap(nullptr, bytes / 4 * sizeof(Word), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (words == MAP_FAILED || window_count == kMostWindows)
    throw std::logic_error("the memory of a device cannot be watched");
  const auto p = reinterpret_cast<std::uintptr_t>(begin);
  windows[window_count++] = {p, p + bytes, static_cast<Word*>(words)};
}

void forget_accesses(const void* begin, std::size_t bytes) {
  const auto p = reinterpret_cast<std::uintptr_t>(begin);
  for (std::size_t w = 0; w < window_count; ++w)
    if (windows[w].holds(p))  // whole pages on both sides
      madvise(windows[w].words + (p - windows[w].begin) / 4, bytes / 4 * sizeof(Word),
              MADV_DONTNEED);
}

WatchedKernel::WatchedKernel() {
  static thread_local Detector own;
  detector = &own;
  detector->found.clear();
  detector->kernel = ++epochs;
}
WatchedKernel::~WatchedKernel() { accessor = nullptr; }

void WatchedKernel::begin_block(const void* shared, std::size_t bytes) {
  const auto p = reinterpret_cast<std::uintptr_t>(shared);
  detector->block = ++epochs;
  detector->shared = {p, p + kSharedBytes, detector->shared_words.data()};
  detector->shared_bytes = bytes;
}
void WatchedKernel::grow_shared(std::size_t bytes) { detector->shared_bytes = bytes; }
void WatchedKernel::set_accessor(const Accessor* now) { accessor = now; }
void WatchedKernel::check() const {
  if (!detector->found.empty()) throw std::logic_error(detector->found);
}

}  // namespace dynet::emulation

namespace {

using dynet::emulation::touch;

// GCC's description of a load or store through a pointer.
struct TypeMismatch {
  const char* file;
  std::uint32_t line, column;
  const void* type;
  unsigned char log_alignment, kind;
};

}  // namespace

// Hooks that GCC calls at loads and stores; none of them may throw.
extern "C" {
void __tsan_init() {}
void __tsan_vptr_update(void**, void*) {}
#define DYNET_HOOKS(n)                                                              \
  void __tsan_read##n(void* p) { touch(p, n, false, __builtin_return_address(0)); } \
  void __tsan_write##n(void* p) { touch(p, n, true, __builtin_return_address(0)); }
DYNET_HOOKS(1)
DYNET_HOOKS(2)
DYNET_HOOKS(4)
DYNET_HOOKS(8)
DYNET_HOOKS(16)
#undef DYNET_HOOKS
void __tsan_read_range(void* p, std::size_t n) { touch(p, n, false, __builtin_return_address(0)); }
void __tsan_write_range(void* p, std::size_t n) { touch(p, n, true, __builtin_return_address(0)); }
void __ubsan_handle_type_mismatch_v1(TypeMismatch* of, void* p) {
  dynet::emulation::note_misaligned(of->file, of->line, p);
}
}
