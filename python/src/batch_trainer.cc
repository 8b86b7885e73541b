#include <memory>

#include "bindings.h"
#include "dynet-like/base/workers.h"
#include "dynet-like/distributed/distributed_trainer.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

/// The part of a BatchTrainer that is not Python: threads and the sum of their gradients.
class LaneTrainer {
 public:
  LaneTrainer(Trainer& trainer, unsigned threads, unsigned lanes, std::uint64_t seed)
      : workers_(threads),
        distributed_(trainer, *world_, {.lanes = lanes, .seed = seed}, &workers_) {}

  double update(std::size_t samples, const nb::callable& learn) {
    const nb::gil_scoped_release release;
    distributed_.for_each_lane(samples, [&](const Lane& lane) {
      const nb::gil_scoped_acquire acquire;
      return nb::cast<double>(learn(lane.number, lane.samples.begin, lane.samples.end, lane.seed));
    });
    distributed_.update(1 / static_cast<real>(samples));
    return distributed_.loss() / static_cast<double>(samples);
  }

 private:
  std::unique_ptr<Communicator> world_ = make_self_communicator();
  Workers workers_;
  DistributedTrainer distributed_;
};

}  // namespace

void bind_batch_trainer(nb::module_& m) {
  nb::class_<LaneTrainer>(m, "_LaneTrainer", "What BatchTrainer is made of.")
      .def(nb::init<Trainer&, unsigned, unsigned, std::uint64_t>(), "trainer"_a, "threads"_a,
           "lanes"_a, "seed"_a, nb::keep_alive<1, 2>())
      .def("update", &LaneTrainer::update, "samples"_a, "learn"_a,
           nb::sig("def update(self, samples: int, "
                   "learn: Callable[[int, int, int, int], float]) -> float"),
           "An update with the mean of the losses that learn(lane, begin, end, seed) returns.");
}

}  // namespace dynet::python
