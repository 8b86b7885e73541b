#include "tools/program/new_files.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "dynet-like/base/errors.h"

namespace program {
namespace {

// Names of unfinished files, read by signal handlers. The size exceeds the number of simultaneously
// open files.
std::array<std::atomic<char*>, 16> begun{};
static_assert(std::atomic<char*>::is_always_lock_free, "handlers of signals must not wait");

void remember(std::unique_ptr<char[]> name) {
  for (std::atomic<char*>& slot : begun) {
    char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, name.get())) return void(name.release());
  }
}

void forget(const std::string& name) {
  for (std::atomic<char*>& slot : begun) {
    char* there = slot.load();
    if (there && name == there && slot.compare_exchange_strong(there, nullptr)) delete[] there;
  }
}

/// Blocks all signals of this thread during its lifetime.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

class Files : public dynet::FileSystem {
 public:
  int open(const std::string& path, int flags, unsigned mode) const override {
    if (!(flags & O_EXCL)) return FileSystem::open(path, flags, mode);
    auto name = std::make_unique<char[]>(path.size() + 1);
    std::memcpy(name.get(), path.c_str(), path.size() + 1);
    const NoSignals quiet;
    const int fd = FileSystem::open(path, flags, mode);
    if (fd >= 0) remember(std::move(name));
    return fd;
  }
  int rename(const std::string& from, const std::string& to) const override {
    const int result = FileSystem::rename(from, to);
    if (result >= 0) forget(from);
    return result;
  }
  int unlink(const std::string& path) const override {
    const int result = FileSystem::unlink(path);
    forget(path);
    return result;
  }
};

/// File system that never renames files.
class Rehearsal : public Files {
 public:
  int rename(const std::string& /*from*/, const std::string& /*to*/) const override {
    written_ = true;
    return -ECANCELED;
  }
  bool written() const { return written_; }

 private:
  mutable bool written_ = false;
};

}  // namespace

const dynet::FileSystem& files() {
  static const Files files;
  return files;
}

dynet::SaveOptions save_options() { return {&files()}; }

void rehearse(const std::function<void(const dynet::SaveOptions&)>& save) {
  const Rehearsal rehearsal;
  try {
    save({&rehearsal});
  } catch (const dynet::FileError&) {
    if (!rehearsal.written()) throw;
  }
}

void remove_new_files() noexcept {
  for (std::atomic<char*>& slot : begun) {
    // Removed during the call, so that no other thread frees it; handlers must not free it either.
    char* const name = slot.exchange(nullptr);
    if (name == nullptr) continue;
    ::unlink(name);
    slot.store(name);
  }
}

}  // namespace program
