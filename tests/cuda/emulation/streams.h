#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "kernels/cuda/driver.h"

namespace dynet::emulation {

class StreamMark;

/// A stream of a device. What is put in is done as late as the rules of CUDA's streams allow: when
/// somebody waits for it, and streams that do not wait for each other are done in an order of
/// chance: one that nobody has asked for is not kept.
class Stream {
 public:
  Stream(int device, cuda::StreamKind kind);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void put(std::function<void()> work);
  /// The number of the last work that was put in.
  std::size_t end() const;
  /// Waits until all up to this number is done.
  void reach(std::size_t number);
  /// Later work of this stream runs after the work that is in `other` now.
  void wait_for(const Stream& other);
  /// Puts a mark behind all that lies here now.
  void mark(StreamMark& mark) const;
  /// Waits until it is reached.
  void reach(const StreamMark& mark);
  /// Later work of this stream runs after the work in front of the mark.
  void wait_for(const StreamMark& mark);

  struct Line;

 private:
  std::shared_ptr<Line> line_;
};

class StreamMark final : public cuda::Mark {
 private:
  friend class Stream;
  std::shared_ptr<Stream::Line> line_;  // null at first
  std::size_t number_ = 0;
};

/// Work of two devices, in their streams for updates.
void copy_between(int to, int from, std::function<void()> work);
/// All that is put into streams of a device from now on is done after what lies there now.
void separate_work(int device);
/// Waits for all that lies in the streams of a device.
void finish(int device);
/// To be called by work: opens the memory of the device to kernels, until what is waited for is
/// done.
void open_memory(int device);

}  // namespace dynet::emulation
