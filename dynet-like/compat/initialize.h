#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dynet-like/shape/tensor.h"

// DyNet's start-up and what it sets for the whole process. The library needs none of it.

namespace dynet {

/// Values of the flags of the command line. The flags, with `-` or `_` between words, as
/// `--dynet-seed 5` or `--dynet-seed=5`:
///
///   --dynet-seed n          random seed; 0, or none, draws one
///   --dynet-weight-decay x  of collections that name none, in [0, 1)
///   --dynet-mem n           megabytes, or four numbers `F,B,P,S`: memory is taken as needed
///   --dynet-autobatch n     automatic batching is always on
///   --dynet-profiling n     see ComputationGraph::statistics
///   --dynet-gpus n          so many GPUs; if there is one, graphs are made on GPU:0
///   --dynet-devices list    such as `GPU:0` or `CPU,GPU:0`: graphs are made on the first one
///
/// Without --dynet-gpus and --dynet-devices, and with `--dynet-gpus 0`, graphs are made on the CPU.
struct DynetParams {
  unsigned random_seed = 0;
  std::string mem_descriptor = "512";
  float weight_decay = 0;
  int autobatch = 0;
  int profiling = 0;
  bool shared_parameters = false;  ///< without meaning: threads share parameters anyway
  bool ngpus_requested = false;
  bool ids_requested = false;
  bool cpu_requested = false;
  int requested_gpus = -1;
  /// With `ids_requested`: GPU i is asked for if number i is not zero. --dynet-devices sets both.
  std::vector<int> gpu_mask = std::vector<int>(256, 0);
  int first_gpu = -1;      ///< the one that --dynet-devices names first; else that of lowest number
  bool cpu_first = false;  ///< --dynet-devices names CPU before any GPU
};

/// Takes the flags out of the command line. Throws ArgumentError for an unknown flag or a wrong
/// value, leaving the command line as it was.
DynetParams extract_dynet_params(int& argc, char**& argv, bool shared_parameters = false);
/// Seeds the process and sets its weight decay and its `default_device`, for collections and graphs
/// made from now on; a graph on another device is told so by `set_device`. May be called again.
/// Throws ArgumentError for devices that are not there, naming those that are.
void initialize(const DynetParams& params);
void initialize(int& argc, char**& argv, bool shared_parameters = false);
/// As before `initialize`.
void cleanup();

/// Restarts all random sequences: of `rndeng`, of collections and graphs made from now on.
void reset_rng(unsigned seed);
/// DyNet's generator, for the program's own draws; never null.
extern std::mt19937* rndeng;
std::mt19937& get_rng();
/// Drawn from `rndeng`: uniform in [0, 1), uniform in 0 ... n - 1, standard normal.
real rand01();
int rand0n(int n);
real rand_normal();

/// Values of flags without effect.
extern int autobatch_flag;
extern int profiling_flag;

}  // namespace dynet
