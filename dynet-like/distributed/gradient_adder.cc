#include "dynet-like/distributed/gradient_adder.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "dynet-like/base/cuda_devices.h"

namespace dynet {
namespace {

void add_numbers(float* __restrict to, const float* __restrict from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
}

// Adds or stores immediately.
struct OnHost {
  void operator()(const GradientSlot& to, const float* from, std::size_t n) const {
    if (!to.written) {
      std::memcpy(to.g, from, n * sizeof(float));
      return;
    }
    add_numbers(to.g, from, n);
  }
};

// Collects additions and starts one device call for all tensors of a size.
class OnDevice {
 public:
  void operator()(const GradientSlot& to, const float* from, std::size_t n) {
    Tensors& all = by_size_[n];
    all.to.push_back(to.g);
    all.from.push_back(from);
    all.writes.push_back(to.written ? Write::add : Write::store);
  }
  /// Starts the collected work on the device; `from` is on the device, or on the host.
  void run(DeviceBackend& b, bool from_host = false) {
    for (auto& [n, t] : by_size_)
      if (from_host)
        b.write(t.to.size(), n, t.from.data(), t.to.data(), t.writes.data());
      else
        b.copy(t.to.size(), n, t.from.data(), t.to.data(), t.writes.data());
    by_size_.clear();
  }

 private:
  struct Tensors {
    std::vector<float*> to;
    std::vector<const float*> from;
    std::vector<Write> writes;
  };
  std::map<std::size_t, Tensors> by_size_;
};

// Adds rows to the whole gradient, if there is one.
template <class Put>
void unify(RowGradients& r, Put& put) {
  if (!r.whole_written() || r.rows().empty()) return;
  const std::size_t n = r.row_size();
  for (std::size_t k = 0; k < r.rows().size(); ++k)
    put({r.whole() + r.rows()[k] * n, true}, r.row_gradient(k), n);
  r.rewind({0, true});
}

// Both gradients are whole, or both are by rows.
template <class Put>
void add_table(RowGradients& to, RowGradients& from, Put& put) {
  const std::size_t n = from.row_size();
  if (from.whole_written()) {
    put(to.use_whole(), from.whole(), from.row_count() * n);
    return;
  }
  for (std::size_t k = 0; k < from.rows().size(); ++k) {
    const std::uint32_t row = from.rows()[k];
    const float* const g = from.row_gradient(k);
    if (to.whole_written())
      put({to.whole() + row * n, true}, g, n);
    else
      put(to.use_row(row), g, n);
  }
}

template <class F>
void for_each_table(GradientBuffer& buffer, F f) {
  for (std::size_t t = 0; t < buffer.table_count(); ++t)
    if (RowGradients* const r = buffer.find_rows(t)) f(t, *r);
}

template <class Put>
void unify_all(GradientBuffer& buffer, Put& put) {
  for_each_table(buffer, [&](std::size_t, RowGradients& r) { unify(r, put); });
}

template <class Put>
void add_all(GradientBuffer& to, GradientBuffer& from, Put& put) {
  for (std::size_t p = 0; p < from.dense_count(); ++p)
    if (const std::size_t n = from.dense_size(p)) put(to.use(p, n), from.find(p), n);
  for_each_table(from, [&](std::size_t t, RowGradients& r) {
    add_table(to.rows(t, r.row_count(), r.row_size()), r, put);
  });
}

}  // namespace

DeviceBackend& GradientAdder::backend(const std::shared_ptr<DeviceAllocator>& memory) {
  for (auto& b : backends_)
    if (b->memory() == memory) return *b;
  backends_.push_back(cuda::kDevices.make_backend(memory->number()));
  return *backends_.back();
}

// Runs f(backend) after all earlier work for these buffers, and before all later work.
template <class F>
void GradientAdder::on_device(GradientBuffer& to, GradientBuffer* from, F f) {
  const std::lock_guard lock(mutex_);
  DeviceBackend& b = backend(to.memory());
  b.write_after(to.writer);
  if (from) b.write_after(from->writer);
  try {
    f(b);
    b.start();
  } catch (...) {
    b.forget();
    throw;
  }
}

void GradientAdder::add(GradientBuffer& to, GradientBuffer& from) {
  if (!to.memory()) {
    OnHost put;
    unify_all(to, put);
    unify_all(from, put);
    add_all(to, from, put);
    unify_all(to, put);
    return;
  }
  on_device(to, &from, [&](DeviceBackend& b) {
    OnDevice put;
    unify_all(to, put);
    unify_all(from, put);
    put.run(b);
    add_all(to, from, put);
    put.run(b);
    unify_all(to, put);
    put.run(b);
  });
}

void GradientAdder::copy(GradientBuffer& to, GradientBuffer& from) {
  if (!to.memory()) {
    from.add_to(to);
    return;
  }
  on_device(to, nullptr, [&](DeviceBackend& b) {
    OnDevice put;
    add_all(to, from, put);
    put.run(b, true);
  });
}

namespace {

std::vector<std::uint32_t> sorted(const RowGradients& r) {
  std::vector<std::uint32_t> rows(r.rows().begin(), r.rows().end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

void sort_on_host(RowGradients& r) {
  const std::size_t n = r.row_size();
  const std::vector<std::uint32_t> rows = sorted(r);
  std::vector<float> values(rows.size() * n);
  for (std::size_t k = 0; k < rows.size(); ++k) std::copy_n(r.find(rows[k]), n, &values[k * n]);
  r.clear();
  for (std::size_t k = 0; k < rows.size(); ++k)
    std::copy_n(&values[k * n], n, r.use_row(rows[k]).g);
}

void sort_on_device(RowGradients& r, DeviceBackend& b) {
  const std::size_t n = r.row_size();
  const std::vector<std::uint32_t> rows = sorted(r);
  DeviceAllocator& memory = *b.memory();
  const auto free = [&](float* p) { memory.free(p); };  // reused only by later work
  const std::unique_ptr<float, decltype(free)> values(
      static_cast<float*>(memory.allocate(rows.size() * n * sizeof(float))), free);
  OnDevice put;
  for (std::size_t k = 0; k < rows.size(); ++k)
    put({values.get() + k * n, false}, r.find(rows[k]), n);
  put.run(b);
  r.clear();
  for (std::size_t k = 0; k < rows.size(); ++k) put(r.use_row(rows[k]), values.get() + k * n, n);
  put.run(b);
  b.start();
}

}  // namespace

void GradientAdder::sort_rows(RowGradients& r, GradientBuffer& of) {
  const auto is_sorted = [&] {
    return r.whole_written() ? r.rows().empty() : std::is_sorted(r.rows().begin(), r.rows().end());
  };
  if (is_sorted()) return;
  if (!of.memory()) {
    r.unify();
    if (!r.whole_written()) sort_on_host(r);
    return;
  }
  on_device(of, nullptr, [&](DeviceBackend& b) {
    if (!r.whole_written()) return sort_on_device(r, b);
    OnDevice put;
    unify(r, put);
    put.run(b);
  });
}

}  // namespace dynet
