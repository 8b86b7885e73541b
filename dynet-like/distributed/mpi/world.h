#pragma once

#include <memory>

#include "dynet-like/distributed/communicator.h"

namespace dynet {

/// Creates a communicator for the processes started by a launcher of MPI. Part of the library
/// dynet-like::mpi. If the program has not started MPI, this function starts it, and the object's
/// destructor ends it. Only one object may exist at a time. Throws CommunicationError.
///
/// After `fail`, or if an exception destroys the object, MPI is not ended: when the process exits,
/// the launcher detects a failed process and ends the other processes.
std::unique_ptr<Communicator> make_mpi_communicator();

/// All processes of this run: those of MPI if the program is linked with dynet-like::mpi and was
inline std::unique_ptr<Communicator> join_world() {
#ifdef DYNET_MPI
  if (started_by_launcher()) return make_mpi_communicator();
#endif
  return make_self_communicator();
}

}  // namespace dynet
