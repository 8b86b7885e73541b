// Loaded before a program over MPI (LD_PRELOAD): each message leaves late, and is noticed late, by
// times of chance up to DELAY_MICROSECONDS.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

std::chrono::microseconds some_time() {
  static std::mt19937_64 random(static_cast<unsigned long>(getpid()));
  static const char* const most = std::getenv("DELAY_MICROSECONDS");
  return std::chrono::microseconds(random() % (most ? std::strtoul(most, nullptr, 10) : 1000));
}

}  // namespace

extern "C" int MPI_Isend(const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm all,
                         MPI_Request* request) {
  std::this_thread::sleep_for(some_time());
  return PMPI_Isend(from, n, type, to, tag, all, request);
}

extern "C" int MPI_Testall(int n, MPI_Request* requests, int* done, MPI_Status* statuses) {
  static std::map<const MPI_Request*, Clock::time_point> noticed;
  const auto [at, fresh] = noticed.try_emplace(requests);
  if (fresh) at->second = Clock::now() + some_time();
  *done = 0;
  if (Clock::now() < at->second) return MPI_SUCCESS;
  const int code = PMPI_Testall(n, requests, done, statuses);
  if (*done) noticed.erase(requests);
  return code;
}
