#include "benchmarks/training/report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

namespace bench {
namespace {

/// All figures of a row, by their names in the JSON.
nlohmann::json figures(const Line& line, double calibrator) {
  const Row& row = *line.row;
  const Result& r = line.result;
  const double rate = r.rate(), us = 1e6 / r.units;
  return {{"unit", row.unit},
          {"units_per_second", rate},
          {"per_calibrator", rate / calibrator},
          {"gflops", rate * row.mflop * 1e-3},
          {"of_dynet", rate / calibrator / row.dynet},
          {"of_hand", rate / calibrator / row.hand},
          {"of_required", rate / calibrator / row.required},
          {"of_aim", rate / calibrator / row.aim},
          {"microseconds",
           {{"build", r.build * us},
            {"plan", r.plan * 1e6},
            {"forward", r.forward * us},
            {"backward", r.backward * us},
            {"update", r.update * us},
            {"total", r.seconds * us}}},
          {"nodes", r.nodes},
          {"batches", r.batches},
          {"lower_bound", r.lower_bound},
          {"plan_ns_per_node", r.plan * 1e9 * r.units / r.updates / r.nodes},
          {"build_ns_per_node", r.build * 1e9 / r.updates / r.nodes},
          {"value_mib", r.value_mib},
          {"gradient_mib", r.gradient_mib},
          {"peak_mib", r.peak_mib},
          {"loss", r.loss / r.units}};
}

template <class... T>
std::string format(const char* pattern, T... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// Prints text in columns, each as wide as its widest cell; the first left-aligned, the others
/// right-aligned.
void print_columns(const std::vector<std::vector<std::string>>& lines, std::ostream& out) {
  std::vector<std::size_t> width;
  for (const auto& line : lines) {
    width.resize(std::max(width.size(), line.size()));
    for (std::size_t k = 0; k < line.size(); ++k) width[k] = std::max(width[k], line[k].size());
  }
  for (const auto& line : lines) {
    for (std::size_t k = 0; k < line.size(); ++k) {
      const std::string gap(width[k] - line[k].size(), ' ');
      out << (k == 0 ? line[k] + gap : "  " + gap + line[k]);
    }
    out << "\n";
  }
}

}  // namespace

void print_table(const Report& report, std::ostream& out) {
  const Options& o = report.options;
  out << format("calibrator %.1f GFLOP/s, %u thread%s, batching %s, %s\n", report.calibrator,
                o.threads, o.threads == 1 ? "" : "s", o.batching ? "on" : "off",
                report.data.c_str());
  out << "per GFLOP/s of the calibrator: ours, DyNet's, by hand (* computed from the arithmetic), "
         "required, aim\nus a unit; plan is a part of forward. An update: nodes, batches, lower "
         "bound of batches; MiB of the largest: values, gradients, resident\n\n";
  std::vector<std::vector<std::string>> lines = {
      {"task",    "units/s", "ours",   "DyNet",   "hand",     "required", "aim",   "ours/req.",
       "GFLOP/s", "build",   "plan",   "forward", "backward", "update",   "total", "nodes",
       "batches", "bound",   "values", "grad.",   "peak",     "loss"}};
  for (const Line& line : report.lines) {
    const Row& row = *line.row;
    const auto f = figures(line, report.calibrator);
    const auto show = [](const char* pattern, const nlohmann::json& x) {
      return format(pattern, x.get<double>());
    };
    lines.push_back({row.name, show("%.0f", f["units_per_second"]),
                     show("%.1f", f["per_calibrator"]), format("%g", row.dynet),
                     format("%g%s", row.hand, row.hand_is_floor ? "*" : ""),
                     format("%g", row.required), format("%g", row.aim),
                     show("%.2f", f["of_required"]), show("%.1f", f["gflops"])});
    for (const char* phase : {"build", "plan", "forward", "backward", "update", "total"})
      lines.back().push_back(show("%.2f", f["microseconds"][phase]));
    for (const char* count : {"nodes", "batches", "lower_bound"})
      lines.back().push_back(show("%.0f", f[count]));
    for (const char* size : {"value_mib", "gradient_mib", "peak_mib"})
      lines.back().push_back(show("%.1f", f[size]));
    lines.back().push_back(show("%.3f", f["loss"]));
  }
  print_columns(lines, out);
}

void write_json(const Report& report, std::ostream& out) {
  nlohmann::json json = {
      {"calibrator", report.calibrator},     {"data", report.data},
      {"threads", report.options.threads},   {"shards", report.options.shards},
      {"batching", report.options.batching}, {"seconds", report.options.seconds}};
  for (const Line& line : report.lines)
    json["tasks"][line.row->name] = figures(line, report.calibrator);
  out << json.dump(2) << "\n";
}

}  // namespace bench
