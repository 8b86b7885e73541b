#include "kernels/cuda/kernels.h"
#include "kernels/cuda/projective_trees.cuh"
#include "kernels/cuda/spanning_trees.cuh"
#include "kernels/cuda/structures.cuh"

// Dependency trees; one block per sentence.

namespace dynet::cuda {
namespace {

constexpr unsigned kTreeBlock = 128;

/// A sentence of a batch, with its scratch.
TreeSentence staged_sentence(Queue& q, const Batch<float>& b, std::size_t i, std::size_t e,
                             const ElementMemory& m) {
  const auto doubles = [&](std::size_t n) {
    return reinterpret_cast<double*>(q.temporary(2 * (n + n % 2)));
  };
  TreeSentence s{};
  s.nodes = b.dim(0, i).rows();
  s.single_root = b.attr<DependencyAttr>(i).single_root != 0;
  s.arcs = b.in(0, i) + e * s.size();
  s.out = m.out;
  s.d_out = m.d_out;
  s.log_z = doubles(2);
  s.p = doubles(s.size());
  if (b.attr<DependencyAttr>().projective != 0) {
    const DependencyTables tables{s.nodes};
    const std::size_t size = DependencyTables::kTables * tables.size();
    s.row = tables.stride();
    s.table = tables.size();
    s.sums = reinterpret_cast<double*>(m.aux);
    s.mass = doubles(size);
    s.slopes = doubles(size);
    s.d_mass = doubles(size);
  } else {
    std::size_t levels = 2;
    for (unsigned words = s.nodes; words > 1; words -= words / 2) ++levels;
    auto* const numbers =
        reinterpret_cast<LogSlope*>(doubles(2 * ((2 + levels) * s.size() + s.nodes)));
    s.weights = numbers;
    s.steps = s.weights + s.size();
    s.levels = s.steps + s.size();
    s.reach = s.levels + levels * s.size();
    s.taken = reinterpret_cast<unsigned*>(doubles(s.nodes));
  }
  return s;
}

/// The sentences of a batch.
struct Sentences : Structures<TreeSentence> {
  bool projective;

  Sentences(Queue& q, const Batch<float>& b, const float* const* d_outs = nullptr)
      : Structures(q, b, d_outs,
                   [&](std::size_t i, std::size_t e, const ElementMemory& m) {
                     return staged_sentence(q, b, i, e, m);
                   }),
        projective(b.attr<DependencyAttr>().projective != 0) {}
  Grid grid() const { return blocks(kTreeBlock); }

  void find_log_z(Queue& q) const {
    q.launch(grid(), projective ? sums_of_spans_kernel : spanning_sum_kernel, all);
  }
  /// Computes p; find_log_z must have run.
  void find_shares(Queue& q, Wanted wanted, bool entropy = false) const {
    if (!projective) return q.launch(grid(), spanning_shares_kernel, all, wanted);
    if (wanted != Wanted::probabilities) q.launch(grid(), slopes_of_spans_kernel, all, wanted);
    q.launch(grid(), shares_of_spans_kernel, all, wanted, entropy);
  }
  /// Restores log Z of projective trees in a backward pass, from the tables of forward.
  void restore_log_z(Queue& q) const;
};

DYNET_GLOBAL void restore_kernel(const TreeSentence* all, std::size_t count) {
  begin_kernel();
  const std::size_t k = thread_number();
  if (k >= count) return;
  const TreeSentence& s = all[k];
  *s.log_z = s.sums[SpanSum::place(s, kRight, s.nodes - 1, 0)];
}
void Sentences::restore_log_z(Queue& q) const {
  if (projective) q.launch_for(count, restore_kernel, all, count);
}

DYNET_GLOBAL void store_log_z_kernel(const TreeSentence* all, std::size_t count) {
  begin_kernel();
  if (const std::size_t k = thread_number(); k < count)
    *all[k].out = static_cast<float>(*all[k].log_z);
}

/// The gradients of the arcs: term(sentence, element); all sentences of one length together.
template <class F>
void arc_gradients(Queue& q, const GradientBatch<float>& b, const Sentences& sentences, F term) {
  gradients_by_size(q, b, [=, all = sentences.all] __device__(std::size_t sentence, std::size_t e) {
    return term(all[sentence], e);
  });
}

void log_partition_forward(Queue& q, const Batch<float>& b) {
  const Sentences s(q, b);
  s.find_log_z(q);
  q.launch_for(s.count, store_log_z_kernel, s.all, s.count);
}
void log_partition_backward(Queue& q, const GradientBatch<float>& b) {
  const Sentences s(q, b, b.d_outs);
  s.restore_log_z(q);
  s.find_shares(q, Wanted::probabilities);
  arc_gradients(q, b, s, [] __device__(const TreeSentence& of, std::size_t e) {
    return *of.d_out * static_cast<float>(of.p[e]);
  });
}

void send_heads(Queue& q, const Batch<float>& b, const Sentences& s) {
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto& a = b.attr<DependencyHeadsAttr>(i);
    const unsigned* const heads = b.payload<DependencyHeadsAttr, unsigned>(i);
    const unsigned* const sent = q.send(heads, a.count);
    for (std::size_t e = 0; e < s.batch; ++e) {
      TreeSentence& to = s.staged[i * s.batch + e];
      to.heads = sent + e * (to.nodes - 1);
      to.possible = is_dependency_tree(heads + e * (to.nodes - 1), to.nodes - 1, a.trees);
    }
  }
}

// The score of the heads, summed in order by one thread.
__device__ double score_of_heads(const TreeSentence& s) {
  if (!s.possible) return -INFINITY;
  double sum = 0;
  for (unsigned d = 1; d < s.nodes; ++d) sum += s.score(s.heads[d - 1], d);
  return sum;
}
DYNET_GLOBAL void log_prob_of_heads_kernel(const TreeSentence* all, std::size_t count) {
  begin_kernel();
  const std::size_t k = thread_number();
  if (k >= count) return;
  const TreeSentence& s = all[k];
  const double score = score_of_heads(s), value = score - *s.log_z;
  *s.out = static_cast<float>(score == -INFINITY ? score : value > 0 ? 0 : value);
}
// For the backward pass: whether the heads have a probability above zero.
DYNET_GLOBAL void possible_kernel(const TreeSentence* all, std::size_t count) {
  begin_kernel();
  if (const std::size_t k = thread_number(); k < count) {
    const TreeSentence& s = all[k];
    *s.log_z = score_of_heads(s) == -INFINITY ? 0 : 1;
  }
}

void log_prob_forward(Queue& q, const Batch<float>& b) {
  const Sentences s(q, b);
  send_heads(q, b, s);
  s.find_log_z(q);
  q.launch_for(s.count, log_prob_of_heads_kernel, s.all, s.count);
}
void log_prob_backward(Queue& q, const GradientBatch<float>& b) {
  const Sentences s(q, b, b.d_outs);
  send_heads(q, b, s);
  s.restore_log_z(q);
  s.find_shares(q, Wanted::probabilities);
  q.launch_for(s.count, possible_kernel, s.all, s.count);
  arc_gradients(q, b, s, [] __device__(const TreeSentence& of, std::size_t e) {
    if (*of.log_z == 0) return 0.0f;
    const Quotient at = divide(e, std::size_t{of.nodes});
    const bool used = at.by > 0 && of.heads[at.by - 1] == at.rest;
    return *of.d_out * ((used ? 1.0f : 0.0f) - static_cast<float>(of.p[e]));
  });
}

// One block per sentence.
DYNET_GLOBAL void store_shares_kernel(const TreeSentence* all) {
  begin_kernel();
  const TreeSentence s = all[blockIdx.x];
  for (std::size_t e = threadIdx.x; e < s.size(); e += blockDim.x)
    s.out[e] = static_cast<float>(s.p[e]);
}

void marginals_forward(Queue& q, const Batch<float>& b) {
  const Sentences s(q, b);
  if (s.projective) s.find_log_z(q);
  s.find_shares(q, Wanted::probabilities);
  q.launch(s.grid(), store_shares_kernel, s.all);
}
void marginals_backward(Queue& q, const GradientBatch<float>& b) {
  const Sentences s(q, b, b.d_outs);
  s.restore_log_z(q);
  s.find_shares(q, Wanted::along_d_out);
  arc_gradients(q, b, s, [] __device__(const TreeSentence& of, std::size_t e) {
    return static_cast<float>(of.p[e]);
  });
}

void entropy_forward(Queue& q, const Batch<float>& b) {
  const Sentences s(q, b);
  s.find_log_z(q);
  s.find_shares(q, Wanted::probabilities, true);
  if (!s.projective) q.launch(s.grid(), spanning_entropy_kernel, s.all);
}
void entropy_backward(Queue& q, const GradientBatch<float>& b) {
  const Sentences s(q, b, b.d_outs);
  s.restore_log_z(q);
  s.find_shares(q, Wanted::along_scores);
  arc_gradients(q, b, s, [] __device__(const TreeSentence& of, std::size_t e) {
    return -*of.d_out * static_cast<float>(of.p[e]);
  });
}

}  // namespace

const Kernels kDependencyLogPartition = {log_partition_forward, log_partition_backward};
const Kernels kDependencyLogProb = {log_prob_forward, log_prob_backward};
const Kernels kDependencyMarginals = {marginals_forward, marginals_backward};
const Kernels kDependencyEntropy = {entropy_forward, entropy_backward};

}  // namespace dynet::cuda
