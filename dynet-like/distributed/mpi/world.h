#pragma once

#include <memory>

#include "dynet-like/distributed/communicator.h"

namespace dynet {

/// The processes that a launcher of MPI has started, by a communicator of their own. In the library
/// dynet-like::mpi. Starts MPI unless the program has, and ends it then with this object. There is
/// one at a time. Throws CommunicationError.
///
/// After `fail`, or when an exception destroys it, MPI is not ended: the launcher sees a process
/// that has failed once that exits, and ends the others.
std::unique_ptr<Communicator> make_mpi_communicator();

/// All processes of this run: those of MPI if the program is linked with dynet-like::mpi and was
/// started by its launcher (`mpirun`, `srun`), else this one alone. Look at `launcher_warning`.
inline std::unique_ptr<Communicator> join_world() {
#ifdef DYNET_MPI
  if (started_by_launcher()) return make_mpi_communicator();
#endif
  return make_self_communicator();
}

}  // namespace dynet
