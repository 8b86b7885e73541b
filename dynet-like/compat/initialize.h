#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dynet-like/shape/tensor.h"

// DyNet's start-up and process-wide settings. The rest of the library does not need them.

namespace dynet {

/// Values of the command line's flags, which may be written with `-` or `_`, as `--dynet-seed 5` or
/// `--dynet-seed=5`:
///
///   --dynet-seed n          random seed; 0, the default, draws a seed
///   --dynet-weight-decay x  default of collections, in [0, 1)
///   --dynet-mem n           megabytes, or four numbers `F,B,P,S`; ignored, memory grows on demand
///   --dynet-autobatch n     ignored, automatic batching is always on
///   --dynet-profiling n     ignored, see ComputationGraph::statistics
///   --dynet-gpus n          number of GPUs; if it is above zero, graphs are on GPU:0
///   --dynet-devices list    such as `GPU:0` or `CPU,GPU:0`: graphs are on the first device
///
/// Without --dynet-gpus and --dynet-devices, and with `--dynet-gpus 0`, graphs are on the CPU.
struct DynetParams {
  unsigned random_seed = 0;
  std::string mem_descriptor = "512";
  float weight_decay = 0;
  int autobatch = 0;
  int profiling = 0;
  bool shared_parameters = false;  ///< ignored: threads always share parameters
  bool ngpus_requested = false;
  bool ids_requested = false;
  bool cpu_requested = false;
  int requested_gpus = -1;
  /// With `ids_requested`: GPU i is requested if gpu_mask[i] is not zero. Set by --dynet-devices.
  std::vector<int> gpu_mask = std::vector<int>(256, 0);
  int first_gpu = -1;      ///< first GPU in --dynet-devices; negative: the one of lowest number
  bool cpu_first = false;  ///< --dynet-devices names CPU before all GPUs
};

/// Removes the flags from the command line and returns their values. Throws ArgumentError for an
/// unknown flag or an invalid value; the command line is unchanged then.
DynetParams extract_dynet_params(int& argc, char**& argv, bool shared_parameters = false);
/// Sets the process's seed, weight decay and `default_device`, for collections and graphs that are
/// created later; `set_device` selects another device for a graph. May be called again. Throws
/// ArgumentError for missing devices; the message lists the existing ones.
/// The environment variables DYNET_PROFILE and DYNET_TRACE name files for the profile of the
/// program, which is written at its end or by `cleanup`, see Profiler.
void initialize(const DynetParams& params);
void initialize(int& argc, char**& argv, bool shared_parameters = false);
/// Restores the state before `initialize`.
void cleanup();

/// Restarts all random sequences: of `rndeng`, and of collections and graphs created later.
void reset_rng(unsigned seed);
/// DyNet's random engine, for the program's own draws; never null.
extern std::mt19937* rndeng;
std::mt19937& get_rng();
/// Draws from `rndeng`: uniform in [0, 1), uniform in 0 ... n - 1, standard normal.
real rand01();
int rand0n(int n);
real rand_normal();

/// Values of flags that are ignored.
extern int autobatch_flag;
extern int profiling_flag;

}  // namespace dynet
