#pragma once

#include <memory>
#include <vector>

#include "dynet-like/param/updater.h"
#include "kernels/cuda/queue.h"

namespace dynet::cuda {

/// What an update has to do with other devices than its own: gradients come from them, and new
/// values go to them. Small tensors and rows travel packed together. Where each device has one
/// buffer and no buffer a number, whole parameters are summed and spread by a Communicator, if
/// there is one.
class Exchange {
 public:
  /// `here` is the update's queue, in the stream for updates, and must outlive this.
  explicit Exchange(Queue& here) : here_(here) {}

  /// To be called before each update, after `here` has begun an operation.
  void begin();
  /// Puts in what brings gradients to the update's device and adds them up there.
  void gather(const GradientReduction& reduction);
  /// Puts in what brings new values to other devices.
  void spread(const std::vector<ValueCopy>& copies);
  /// Starts everything that was put in, here too.
  void start();
  /// Forgets what was put in elsewhere.
  void forget();

 private:
  /// What another device does before and after the update.
  struct Peer {
    explicit Peer(int number);
    Queue before, after;
    bool sends = false, gets = false;
    bool behind = true;  // it has not waited for what `here` did before
  };
  /// Devices that can work together, this one first; null if they cannot.
  struct Group {
    std::vector<int> numbers;
    std::unique_ptr<Communicator> devices;
  };
  /// n numbers on their way. If `to` is null they may lie anywhere.
  struct Parcel {
    const float* from;
    float* to;
    std::size_t n;
  };
  Peer& peer(const DeviceAllocator& memory);
  Group* find_group(const GradientReduction& reduction);
  bool reduce_together(const GradientReduction& reduction, const DeviceSums& sums);
  bool spread_together(const std::vector<ValueCopy>& copies, std::size_t first, std::size_t n);
  void carry(Queue& from, Queue& to, Queue& by, std::vector<Parcel>& parcels);

  Queue& here_;
  std::size_t held_ = 0;  // bytes of the temporaries of `here`, in the update before
  std::vector<std::unique_ptr<Peer>> peers_;  // by number of device
  std::vector<std::unique_ptr<Group>> groups_;
  Group* group_ = nullptr;  // of this update; null: each device for itself
  std::vector<Communicator::Sum> reductions_;
  std::vector<Communicator::Spread> broadcasts_;
};

}  // namespace dynet::cuda
