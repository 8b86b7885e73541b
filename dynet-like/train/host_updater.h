#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dynet-like/param/updater.h"
#include "dynet-like/train/rule.h"

namespace dynet {

class Workers;

/// Runs updates on the CPU, synchronously.
class HostUpdater final : public Updater {
 public:
  /// `rule` must outlive the updater.
  explicit HostUpdater(const TrainerRule& rule) : rule_(rule) {}

  /// Threads for large parameters, or null. Results do not depend on the threads.
  void set_workers(Workers* workers) { workers_ = workers; }

  const std::shared_ptr<DeviceAllocator>& memory() override { return none_; }
  /// Throws std::bad_alloc before changing anything.

  void update(const Update& update) override;
  UpdateOutcome outcome() override { return outcome_; }

 private:
  /// Contiguous values of a part.
  struct Piece {
    const UpdatePart* part;
    std::size_t at, n;
  };

  void check_norm(const Update& update);
  void step(const UpdatePart& part, std::size_t at, std::size_t n, const float* g) const;
  void step_rows(const UpdatePart& part) const;
  std::size_t size_of_pieces(const UpdatePart& part, bool whole) const;
  std::size_t count_pieces(const std::vector<UpdatePart>& parts, bool whole) const;
  template <class F>
  void for_each_piece(const std::vector<UpdatePart>& parts, bool whole, F f);

  const TrainerRule& rule_;
  Workers* workers_ = nullptr;
  std::shared_ptr<DeviceAllocator> none_;
  UpdateOutcome outcome_{};
  TrainerConstants constants_{};  // of the running update
  float scale_ = 1;
  std::vector<Piece> pieces_;
};

}  // namespace dynet
