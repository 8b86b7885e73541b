#include "dynet-like/compat/initialize.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/process.h"
#include "dynet-like/base/random.h"
#include "dynet-like/compat/print.h"
#include "dynet-like/graph/observer.h"
#include "dynet-like/profile/profiler.h"

namespace dynet {
namespace {

struct Process {
  std::atomic<std::uint64_t> seed = 0, collections = 0, graphs = 0;
  std::atomic<float> weight_decay = 0;
  std::atomic<Device*> device = &kCpu;
  std::atomic<bool> initialized = false;
};
Process process;

// Written at the end of the program, by `cleanup` or by the destructor.
struct Profile {
  std::unique_ptr<ProfiledRun> run;
  void write() {
    const std::unique_ptr<ProfiledRun> written = std::move(run);
    try {
      if (written) written->write();
    } catch (const std::exception& e) {
      print_to_standard_error(std::string(e.what()) + '\n');
    }
  }
  ~Profile() { write(); }
};
Profile profile;

std::uint64_t draw(std::uint64_t kind, std::atomic<std::uint64_t>& count) {
  return mix_bits(mix_bits(process.seed + kind) + ++count);
}

constexpr ProcessHooks kHooks = {[] { return draw(1, process.collections); },
                                 [] { return draw(2, process.graphs); },
                                 [] { return process.weight_decay.load(); },
                                 [] { return process.device.load(); }, print_to_standard_error};

// Parses the whole value of a flag.
template <class T>
T number(std::string_view flag, std::string_view text, T least, const char* rule) {
  T n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || !(n >= least))
    throw ArgumentError(std::string(flag) + ": needs " + rule + ", got \"" + std::string(text) +
                        '"');
  return n;
}

template <class Visit>
void for_each_part(std::string_view list, Visit visit) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    visit(list.substr(at, end - at));
    at = end + 1;
  }
}

void read_memory(std::string_view flag, std::string_view value, DynetParams& params) {
  int parts = 0;
  for_each_part(value, [&](std::string_view part) {
    number<unsigned long>(flag, part, 0, "megabytes: one number, or four with commas");
    ++parts;
  });
  if (parts != 1 && parts != 4)
    throw ArgumentError(std::string(flag) + ": needs one number, or four with commas, got \"" +
                        std::string(value) + '"');
  params.mem_descriptor = value;
}

void read_devices(std::string_view flag, std::string_view value, DynetParams& params) {
  for_each_part(value, [&](std::string_view name) {
    if (name == "CPU") {
      params.cpu_requested = true;
      params.cpu_first = params.cpu_first || params.first_gpu < 0;
    } else if (name.substr(0, 4) == "GPU:") {
      const int id = number<int>(flag, name.substr(4), 0, "the number of a GPU");
      if (static_cast<std::size_t>(id) >= params.gpu_mask.size())
        throw ArgumentError(std::string(flag) + ": GPUs have numbers below 256, got " +
                            std::to_string(id));
      params.gpu_mask[static_cast<std::size_t>(id)] = 1;
      if (params.first_gpu < 0) params.first_gpu = id;
    } else {
      throw ArgumentError(std::string(flag) + ": needs names such as CPU or GPU:0, got \"" +
                          std::string(name) + '"');
    }
  });
  params.ids_requested = true;
}

// `name`: the flag without leading dashes, with `-` in place of `_`.
void read_flag(std::string_view flag, std::string_view name, std::string_view value,
               DynetParams& params) {
  constexpr const char* kCount = "a whole number that is not negative";
  if (name == "dynet-seed") {
    params.random_seed = number<unsigned>(flag, value, 0, kCount);
  } else if (name == "dynet-weight-decay") {
    params.weight_decay = number<float>(flag, value, 0, "a number in [0, 1)");
  } else if (name == "dynet-mem") {
    read_memory(flag, value, params);
  } else if (name == "dynet-autobatch") {
    params.autobatch = number<int>(flag, value, 0, kCount);
  } else if (name == "dynet-profiling") {
    params.profiling = number<int>(flag, value, 0, kCount);
  } else if (name == "dynet-gpus") {
    params.requested_gpus = number<int>(flag, value, 0, kCount);
    params.ngpus_requested = true;
  } else if (name == "dynet-devices") {
    read_devices(flag, value, params);
  } else if (name == "dynet-distributed" || name == "dynet-lanes") {
    throw ArgumentError(std::string(flag) +
                        ": programs train in several processes by dynet::DistributedTrainer");
  } else {
    throw ArgumentError(std::string(flag) +
                        ": is no flag of DyNet's; there are --dynet-seed, --dynet-weight-decay, "
                        "--dynet-mem, --dynet-autobatch, --dynet-profiling, --dynet-gpus "
                        "and --dynet-devices");
  }
}

Device* gpu(const std::string& number) {
  const std::string name = "GPU:" + number;
  for (Device* d : get_device_manager()->get_devices())
    if (name == d->name) return d;
  throw ArgumentError("initialize: there is no device " + name +
                      ", there is: " + get_device_manager()->names());
}

// Device of graphs. Throws unless every device that `params` requests exists.
Device* first_device(const DynetParams& params) {
  Device* first = &kCpu;
  for (int n = params.requested_gpus; n > 0; --n) first = gpu(std::to_string(n - 1));
  if (params.ids_requested)
    for (std::size_t k = params.gpu_mask.size(); k > 0; --k)
      if (params.gpu_mask[k - 1] != 0) first = gpu(std::to_string(k - 1));
  if (params.ids_requested && params.first_gpu >= 0) first = gpu(std::to_string(params.first_gpu));
  return params.cpu_first ? &kCpu : first;
}

}  // namespace

std::mt19937* rndeng = new std::mt19937;  // a program may delete and replace it
int autobatch_flag = 0;
int profiling_flag = 0;

Observer* process_observer() { return profile.run ? &profile.run->profiler() : nullptr; }

const ProcessHooks* process_hooks() { return process.initialized ? &kHooks : nullptr; }

DynetParams extract_dynet_params(int& argc, char**& argv, bool shared_parameters) {
  DynetParams params;
  params.shared_parameters = shared_parameters;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::string name(argument.substr(0, argument.find('=')));
    for (char& c : name)
      if (c == '_') c = '-';
    if (i == 0 || name.rfind("--dynet-", 0) != 0) {
      rest.push_back(argv[i]);
      continue;
    }
    const std::string flag(argument.substr(0, name.size()));
    std::optional<std::string_view> value;
    if (name.size() < argument.size())
      value = argument.substr(name.size() + 1);
    else if (i + 1 < argc)
      value = argv[++i];
    read_flag(flag, name.substr(2), value.value_or(std::string_view()), params);
  }
  std::copy(rest.begin(), rest.end(), argv);
  if (rest.size() < static_cast<std::size_t>(argc)) argv[rest.size()] = nullptr;
  argc = static_cast<int>(rest.size());
  return params;
}

void initialize(const DynetParams& params) {
  if (!profile.run)
    profile.run =
        ProfiledRun::if_asked_for(std::getenv("DYNET_PROFILE"), std::getenv("DYNET_TRACE"));
  if (!(params.weight_decay >= 0 && params.weight_decay < 1))
    throw ArgumentError("initialize: the weight decay must be in [0, 1), got " +
                        std::to_string(params.weight_decay));
  process.device = first_device(params);
  process.weight_decay = params.weight_decay;
  autobatch_flag = params.autobatch;
  profiling_flag = params.profiling;
  unsigned seed = params.random_seed;
  while (seed == 0) seed = std::random_device()();
  reset_rng(seed);
  process.initialized = true;
}

void initialize(int& argc, char**& argv, bool shared_parameters) {
  initialize(extract_dynet_params(argc, argv, shared_parameters));
}

void cleanup() {
  profile.write();
  process.initialized = false;
  process.weight_decay = 0;
  process.device = &kCpu;
  autobatch_flag = profiling_flag = 0;
  reset_rng(std::mt19937::default_seed);
}

void reset_rng(unsigned seed) {
  rndeng->seed(seed);
  process.seed = seed;
  process.collections = process.graphs = 0;
}

std::mt19937& get_rng() { return *rndeng; }

real rand01() { return std::uniform_real_distribution<real>(0, 1)(*rndeng); }

int rand0n(int n) {
  if (n <= 0) throw ArgumentError("rand0n: needs n > 0, got " + std::to_string(n));
  return std::uniform_int_distribution<int>(0, n - 1)(*rndeng);
}

real rand_normal() { return std::normal_distribution<real>(0, 1)(*rndeng); }

}  // namespace dynet
