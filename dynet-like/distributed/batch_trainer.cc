#include "dynet-like/distributed/batch_trainer.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/ops/broadcast.h"

namespace dynet {

BatchTrainer::BatchTrainer(Trainer& trainer, BatchTrainerOptions options)
    : BatchTrainer(trainer, make_self_communicator(), nullptr, std::move(options)) {}

BatchTrainer::BatchTrainer(Trainer& trainer, Communicator& world, BatchTrainerOptions options)
    : BatchTrainer(trainer, nullptr, &world, std::move(options)) {}

BatchTrainer::BatchTrainer(Trainer& trainer, std::unique_ptr<Communicator> own, Communicator* world,
                           BatchTrainerOptions&& options)
    : configure_(std::move(options.configure)),
      own_(std::move(own)),
      workers_(options.threads),
      distributed_(trainer, world ? *world : *own_, {.lanes = options.lanes, .seed = options.seed},
                   &workers_) {
  trainer.set_workers(&workers_);
}

BatchTrainer::~BatchTrainer() { distributed_.trainer().set_workers(nullptr); }

double BatchTrainer::update(std::size_t samples, const LossesOf& losses_of) {
  if (samples == 0) throw ArgumentError("BatchTrainer::update: the minibatch has no samples");
  distributed_.for_each_lane(samples, [&](const Lane& lane) {
    ComputationGraph graph;
    if (configure_) configure_(graph);
    lane.begin(graph);
    const Expression total = sum(losses_of(graph, lane.samples));
    const double loss = static_cast<double>(as_scalar(graph.forward(total)));
    graph.backward(total);
    return loss;
  });
  distributed_.update(1 / static_cast<real>(samples));
  return distributed_.loss() / static_cast<double>(samples);
}

}  // namespace dynet
