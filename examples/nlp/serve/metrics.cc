#include "examples/nlp/serve/metrics.h"

#include <algorithm>
#include <sstream>

namespace nlp {

void Metrics::add_answer(unsigned status, std::chrono::duration<double> time) {
  ++answers_[status];
  const auto interval = std::lower_bound(kBounds.begin(), kBounds.end(), time.count());
  ++intervals_[static_cast<std::size_t>(interval - kBounds.begin())];
  seconds_ += time.count();
}

void Metrics::add_batch(std::size_t texts) {
  ++batches_;
  texts_ += texts;
}

void Metrics::add_reload(bool succeeded) { ++(succeeded ? reloads_ : failed_reloads_); }

std::string Metrics::text(std::size_t queued) const {
  std::ostringstream out;
  const auto begin = [&](const std::string& name, const char* type, const char* help) {
    const std::string full = program_ + "_" + name;
    out << "# HELP " << full << ' ' << help << "\n# TYPE " << full << ' ' << type << '\n';
  };
  const auto value = [&](const std::string& name, const std::string& labels, auto number) {
    out << program_ << '_' << name << labels << ' ' << number << '\n';
  };
  begin("requests_total", "counter", "Requests that were answered, by the status of the answer.");
  for (const auto& [status, count] : answers_)
    value("requests_total", "{status=\"" + std::to_string(status) + "\"}", count);
  begin("request_seconds", "histogram", "Time from a request that was read to its answer.");
  std::uint64_t below = 0;
  for (std::size_t k = 0; k < intervals_.size(); ++k) {
    std::ostringstream bound;
    k < kBounds.size() ? bound << kBounds[k] : bound << "+Inf";
    value("request_seconds_bucket", "{le=\"" + bound.str() + "\"}", below += intervals_[k]);
  }
  value("request_seconds_sum", "", seconds_);
  value("request_seconds_count", "", below);
  begin("batches_total", "counter", "Batches of texts that were processed together.");
  value("batches_total", "", batches_.load());
  begin("batched_texts_total", "counter", "Texts in these batches.");
  value("batched_texts_total", "", texts_.load());
  begin("queued_texts", "gauge", "Texts that wait now.");
  value("queued_texts", "", queued);
  begin("reloads_total", "counter", "Attempts to load the model again.");
  value("reloads_total", "{result=\"success\"}", reloads_);
  value("reloads_total", "{result=\"failure\"}", failed_reloads_);
  return std::move(out).str();
}

}  // namespace nlp
