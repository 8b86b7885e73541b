#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "benchmarks/training/train.h"

namespace bench {

struct Line {
  const Row* row;
  Result result;
};

struct Report {
  double calibrator = 0;  ///< in GFLOP/s
  std::string data;       ///< source of the data
  Options options;
  std::vector<Line> lines;
};

void print_table(const Report& report, std::ostream& out);
void write_json(const Report& report, std::ostream& out);

}  // namespace bench
