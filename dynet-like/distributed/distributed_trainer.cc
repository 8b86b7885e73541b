#include "dynet-like/distributed/distributed_trainer.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <iterator>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/base/isa.h"
#include "dynet-like/base/random.h"
#include "dynet-like/base/version.h"
#include "dynet-like/distributed/gradient_exchange.h"
#include "dynet-like/distributed/lane_gradients.h"
#include "dynet-like/distributed/update_head.h"
#include "dynet-like/graph/device_backend.h"
#include "dynet-like/io/checksum.h"

namespace dynet {
namespace {

std::string_view text_of(const float* values, std::size_t n) {
  return {reinterpret_cast<const char*>(values), n * sizeof(float)};
}

// Names of the numbers in UpdateHead::same, see numbers_to_agree_on.
constexpr const char* kAgreedOn[] = {"number of updates",
                                     "number of lanes",
                                     "seed",
                                     "number of parameters",
                                     "number of tables",
                                     "number of trained values",
                                     "number of samples of the minibatch",
                                     "scale of the gradients",
                                     "learning rate",
                                     "clipping",
                                     "clipping threshold",
                                     "treatment of sparse updates",
                                     "treatment of updates that are not finite"};

bool contains(const ParameterCollection& all, const ParameterStorageBase& p) {
  return all.node().contains(p.collection);
}

std::vector<ParameterStorageBase*> parameters_of(const ParameterCollection& collection) {
  std::vector<ParameterStorageBase*> all;
  ParameterBank& bank = collection.bank();
  for (auto* list : {&bank.parameters, &bank.tables})
    for (auto& p : *list)
      if (contains(collection, *p)) all.push_back(p.get());
  return all;
}

}  // namespace

void synchronize(Communicator& world, const ParameterCollection& parameters) {
  if (world.size() == 1) return;
  for (ParameterStorageBase* const p : parameters_of(parameters)) {
    p->copy_to_host();
    Communicator::Bytes values = bytes_of(text_of(p->data, p->size()));
    world.broadcast(values);
    if (values.size() != p->size() * sizeof(float))
      throw CommunicationError("rank 0 has " + std::to_string(values.size() / sizeof(float)) +
                               " values where parameter " + p->name + " " + to_string(p->dim) +
                               " of rank " + std::to_string(world.rank()) + " has " +
                               std::to_string(p->size()));
    std::memcpy(p->data, values.data(), values.size());
    p->changed();
  }
}

void Lane::begin(ComputationGraph& graph) const {
  graph.set_gradient_buffer(number);
  graph.set_seed(seed);
}

/// State that depends on the number of lanes.
struct DistributedTrainer::Tree {
  Tree(Communicator& world, GradientBuffers& buffers, const DistributedState& state)
      : lanes(state.lanes),
        own(lanes_of_rank(state.lanes, world.rank(), world.size())),
        gradients(buffers, adder, lanes, own),
        exchange(world, lanes) {}

  LaneTree lanes;
  Interval own;
  GradientAdder adder;
  LaneGradients gradients;
  GradientExchange exchange;
};

DistributedTrainer::DistributedTrainer(Trainer& trainer, Communicator& world,
                                       const DistributedState& state, Workers* workers,
                                       std::uint64_t check_every)
    : trainer_(trainer), world_(world), workers_(workers), check_every_(check_every) {
  restore(state);
}

DistributedTrainer::~DistributedTrainer() = default;

Interval DistributedTrainer::own_lanes() const { return tree_->own; }

void DistributedTrainer::restore(const DistributedState& state) {
  tree_ = std::make_unique<Tree>(world_, trainer_.collection().bank().gradients, state);
  state_ = state;
  losses_.assign(tree_->own.size(), 0);
  reported_.assign(tree_->own.size(), false);
  compared_ = false;
}

void DistributedTrainer::for_each_lane(std::size_t samples,
                                       const std::function<double(const Lane&)>& learn) {
  samples_ = samples;
  world_.set_activity("update " + std::to_string(state_.updates));
  const auto run = [&](unsigned job) {
    const auto number = static_cast<unsigned>(tree_->own.begin + job);
    if (tree_->gradients.is_done(number))
      throw ArgumentError("DistributedTrainer::for_each_lane: lane " + std::to_string(number) +
                          " has had its samples; call update first");
    const std::uint64_t seed = mix_bits(mix_bits(state_.seed ^ mix_bits(state_.updates)) + number);
    const Lane lane{number, samples_of_lane(samples, number, state_.lanes), seed, job};
    if (!lane.samples.empty()) {
      losses_[job] = learn(lane);
      reported_[job] = true;
    }
    tree_->gradients.done(number);
  };
  const auto jobs = static_cast<unsigned>(tree_->own.size());
  try {
    guarded(world_, [&] {
      if (workers_)
        workers_->run(jobs, run);
      else
        for (unsigned job = 0; job < jobs; ++job) run(job);
    });
  } catch (...) {
    tree_->gradients.drop();
    std::fill(reported_.begin(), reported_.end(), false);
    throw;
  }
}

bool DistributedTrainer::update(real scale) {
  world_.set_activity("summing gradients of update " + std::to_string(state_.updates));
  try {
    guarded(world_, [&] { sum_gradients(scale); });
  } catch (...) {
    tree_->gradients.drop();
    std::fill(reported_.begin(), reported_.end(), false);
    throw;
  }
  std::fill(reported_.begin(), reported_.end(), false);
  ++state_.updates;
  return trainer_.update(scale);
}

void DistributedTrainer::sum_gradients(real scale) {
  ParameterBank& bank = trainer_.collection().bank();
  GradientExchange::Sums own = tree_->gradients.finish();
  UpdateHead head;
  for (const auto& [key, buffer] : bank.gradients.in_order()) {
    const auto is_this = [b = buffer](const auto& sum) { return sum.second == b; };
    if (std::none_of(own.begin(), own.end(), is_this))
      throw ArgumentError(
          "DistributedTrainer: there are gradients that belong to no lane of rank " +
          std::to_string(world_.rank()) + "; call Lane::begin for every graph");
    for (auto& p : bank.parameters)
      if (!contains(trainer_.collection(), *p)) buffer->forget(p->index);
    for (auto& p : bank.tables)
      if (RowGradients* const r = buffer->find_rows(p->index))
        contains(trainer_.collection(), *p) ? tree_->adder.sort_rows(*r, *buffer) : r->clear();
  }
  const LaneGradients::Places& places = tree_->gradients.places();
  if (places.device) device_ = places.device;
  head.places = static_cast<std::uint8_t>((places.cpu ? head.kOnCpu : 0) |
                                          (places.device ? head.kOnDevice : 0));
  for (std::size_t k = 0; k < losses_.size(); ++k)
    if (reported_[k])
      head.losses.emplace_back(static_cast<std::uint32_t>(tree_->own.begin + k), losses_[k]);
  if (world_.size() > 1) {
    if (!compared_) require_same(world_, facts());
    if (check_every_ > 0 && (!compared_ || state_.updates % check_every_ == 0))
      compare_parameters();
    head.rank = world_.rank();
    head.same = numbers_to_agree_on(scale);
    head.present = GradientExchange::presence(bank, own);
    head = UpdateHead::unpack(world_.merge_all(
        head.pack(), [](Communicator::Bytes& into, const Communicator::Bytes& from) {
          UpdateHead sum = UpdateHead::unpack(into);
          sum.add(UpdateHead::unpack(from));
          into = sum.pack();
        }));
    if (head.odd_rank != UpdateHead::kNone)
      throw CommunicationError("the " + std::string(kAgreedOn[head.different]) + " of rank " +
                               std::to_string(head.odd_rank) + " is not that of other ranks (" +
                               world_.activity() + ")");
    for (auto& [node, buffer] : own)
      if (buffer) buffer = &tree_->gradients.on_host(*buffer);
    GradientBuffer& total = bank.gradients.make(nullptr);
    tree_->exchange.sum(bank, head.present, own, total);
    for (const auto& [node, buffer] : own)
      if (buffer) bank.gradients.drop(*buffer);
    own = {{tree_->lanes.root(), &total}};
  }
  compared_ = true;
  if (head.places == head.kOnDevice && own[0].second) put_on_device(*own[0].second);
  loss_ = 0;
  for (const auto& [lane, loss] : head.losses) loss_ += loss;
}

// Copies the sum to a device of this process; all processes update on devices then.
void DistributedTrainer::put_on_device(GradientBuffer& total) {
  if (total.memory()) return;
  if (!device_) {  // this process had no samples so far
    const cuda::Devices* devices = &cuda::kDevices;
    if (!devices || devices->count() == 0)
      throw DeviceError(
          "DistributedTrainer: other processes compute gradients on a device, and rank " +
          std::to_string(world_.rank()) + " has none");
    device_ = devices->make_backend(0)->memory();
  }
  GradientBuffers& all = trainer_.collection().bank().gradients;
  tree_->adder.copy(all.make(device_), total);
  all.drop(total);
}

std::vector<std::uint64_t> DistributedTrainer::numbers_to_agree_on(real scale) const {
  const Trainer& t = trainer_;
  const ParameterBank& bank = t.collection().bank();
  std::vector<std::uint64_t> same = {state_.updates,
                                     state_.lanes,
                                     state_.seed,
                                     bank.parameters.size(),
                                     bank.tables.size(),
                                     t.collection().parameter_count(),
                                     samples_,
                                     std::bit_cast<std::uint32_t>(scale),
                                     std::bit_cast<std::uint32_t>(t.learning_rate),
                                     t.clipping_enabled,
                                     std::bit_cast<std::uint32_t>(t.clip_threshold),
                                     t.sparse_updates_enabled,
                                     t.skip_non_finite};
  static_assert(sizeof(real) == sizeof(std::uint32_t));
  return same;
}

std::vector<double> DistributedTrainer::score(
    std::size_t samples, const std::function<std::vector<double>(Interval)>& score) const {
  world_.set_activity("scoring after update " + std::to_string(state_.updates));
  // For each lane: the number of all samples, the length of its list, and the list.
  std::vector<double> own;
  std::size_t lanes = 0;
  guarded(world_, [&] {
    for (unsigned lane = 0; lane < state_.lanes; ++lane) {
      const Interval part = samples_of_lane(samples, lane, state_.lanes);
      if (part.empty()) continue;
      ++lanes;
      if (lane < tree_->own.begin || lane >= tree_->own.end) continue;
      const std::vector<double> numbers = score(part);
      own.push_back(static_cast<double>(samples));
      own.push_back(static_cast<double>(numbers.size()));
      own.insert(own.end(), numbers.begin(), numbers.end());
    }
  });
  // Higher ranks have higher lanes, so the lists are in the order of lanes.
  const Communicator::Bytes all = world_.allgather(
      bytes_of({reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double)}));
  std::vector<double> numbers(all.size() / sizeof(double));
  if (!all.empty()) std::memcpy(numbers.data(), all.data(), all.size());
  std::vector<double> sum;
  bool same = true;
  std::size_t lists = 0;
  for (std::size_t at = 0; at < numbers.size(); ++lists) {
    same = same && numbers[at] == static_cast<double>(samples);
    const auto length = static_cast<std::size_t>(numbers[at + 1]);
    if (lists == 0) sum.resize(length);
    if (length != sum.size())
      throw ArgumentError("DistributedTrainer::score: lists of " + std::to_string(sum.size()) +
                          " and of " + std::to_string(length) + " numbers");
    for (std::size_t i = 0; i < length; ++i) sum[i] += numbers[at + 2 + i];
    at += 2 + length;
  }
  if (!same || lists != lanes)
    throw CommunicationError("DistributedTrainer::score: processes have different samples; rank " +
                             std::to_string(world_.rank()) + " has " + std::to_string(samples));
  return sum;
}

std::vector<std::uint64_t> DistributedTrainer::checksums() const {
  std::vector<std::uint64_t> all;
  for (ParameterStorageBase* const p : parameters_of(trainer_.collection())) {
    p->copy_to_host();
    all.push_back(mix_bits(checksum(p->name)) ^ checksum(text_of(p->data, p->size())));
  }
  return all;
}

std::uint64_t DistributedTrainer::parameter_checksum() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t one : checksums()) sum = mix_bits(sum) ^ one;
  return sum;
}

void DistributedTrainer::compare_parameters() {
  if (world_.size() == 1) return;
  using Bytes = Communicator::Bytes;
  // Rank 0 may have another number of parameters; a missing parameter counts as different.
  const std::vector<std::uint64_t> mine = checksums();
  Bytes first =
      bytes_of({reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof mine[0]});
  world_.broadcast(first);
  std::vector<std::uint64_t> theirs(first.size() / sizeof mine[0]);
  if (!first.empty()) std::memcpy(theirs.data(), first.data(), first.size());
  const auto [here, there] = std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end());
  std::string text;  // throw_if_any throws that of the lowest rank
  if (here != mine.end() || there != theirs.end()) {
    const auto k = static_cast<std::size_t>(here - mine.begin());
    const auto all = parameters_of(trainer_.collection());
    text = "rank " + std::to_string(world_.rank()) + " and rank 0 disagree about " +
           (k < all.size() ? (all[k]->is_lookup ? "lookup parameter " : "parameter ") +
                                 all[k]->name + " " + to_string(all[k]->dim)
                           : "how many parameters there are") +
           " after " + std::to_string(state_.updates) +
           " updates; processes must build the same model, or call synchronize, and change it by "
           "updates alone";
  }
  throw_if_any(world_, text);
}

RunFacts DistributedTrainer::facts() {
  std::uint64_t state = 0, trained = 0;
  for (const Trainer::StateView& view : trainer_.state_views())
    for (const float* const array : view.arrays)
      state = mix_bits(state) ^ checksum(text_of(array, view.dim.size()));
  for (const ParameterStorageBase* const p : parameters_of(trainer_.collection()))
    trained = mix_bits(trained) ^ (p->updated ? 0 : 1) ^
              std::bit_cast<std::uint32_t>(p->collection->effective_weight_decay());
  RunFacts facts = {{"the version of dynet-like", version()},
                    {"the instruction set", isa_name()},
                    {"the trainer", trainer_.kind()},
                    {"the digest of the trainer's state", std::to_string(state)},
                    {"the digest of weight decay and frozen parameters", std::to_string(trained)}};
  for (const auto& [name, value] : trainer_.numbers()) {
    char digits[32];
    facts.emplace_back("the trainer's " + name,
                       std::string(digits, std::to_chars(digits, std::end(digits), value).ptr));
  }
  return facts;
}

void DistributedTrainer::synchronize() {
  if (world_.size() == 1) return;
  world_.set_activity("synchronizing");
  guarded(world_, [&] {
    dynet::synchronize(world_, trainer_.collection());
    std::ostringstream out;
    if (world_.rank() == 0) trainer_.save(out);
    std::istringstream in(broadcast_text(out.str()));
    trainer_.populate(in);
  });
}

// Collecting the state applies pending updates of rows, which must happen on all processes.
void DistributedTrainer::before_saving() {
  world_.set_activity("saving after update " + std::to_string(state_.updates));
  guarded(world_, [&] { static_cast<void>(trainer_.state_views()); });
}

void DistributedTrainer::need_all(bool found) {
  const double n = world_.allreduce({static_cast<double>(found)})[0];
  if (n != 0 && n != world_.size())
    throw CommunicationError("only " + std::to_string(static_cast<unsigned>(n)) + " of " +
                             std::to_string(world_.size()) +
                             " processes see the checkpoints: the folder must be shared");
}

std::string DistributedTrainer::broadcast_text(const std::string& text) {
  Communicator::Bytes bytes = bytes_of(text);
  world_.broadcast(bytes);
  return text_of(bytes);
}

}  // namespace dynet
