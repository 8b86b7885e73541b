#include "examples/mixed/emoji/gather.h"
int main(int argc, char** argv) {
  nlp::CommandLine line("emoji", "x");
  line.add("gather", "Collect", emoji::gather_command(), {});
  return line.run(argc, argv);
}
