"""The MPIs that are installed, and programs that are built for each of them."""

import os
import pathlib
import shutil
import subprocess

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {
    **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "SOURCE_DATE_EPOCH": "0", "DYNET_VERIFY": "1",
}  # fmt: skip


class Mpi:
    """One MPI: its compiler, and the command that starts n processes."""

    def __init__(self, name, options):
        self.name = name
        self.compiler, self.launcher = shutil.which(f"mpicxx.{name}"), shutil.which(f"mpirun.{name}")
        self.options = options

    def start(self, processes):
        return [self.launcher, *self.options, "-n", str(processes)]

    def build(self, program, sources, link, options=()):
        """Compiles `sources` for the library and its part for MPI, and links them with the finished libraries."""
        sources = [ROOT / source for source in sources]
        command = [
            self.compiler, "-std=c++20", "-O1", "-DDYNET_MPI", f"-I{ROOT}", f"-I{ROOT}/dynet-like/compat/include", *options,
            "-o", program, ROOT / "dynet-like/distributed/mpi/communicator.cc", *sources, *link,
        ]  # fmt: skip
        subprocess.run(command, check=True)
        return program

    def build_delays(self, library):
        """See delays.cc."""
        command = [self.compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library, ROOT / "tests/distributed/delays.cc"]
        subprocess.run(command, check=True)
        return library


def installed():
    """The MPIs of Debian that are there."""
    mpis = [Mpi("openmpi", ["--oversubscribe"]), Mpi("mpich", [])]
    return [mpi for mpi in mpis if mpi.compiler and mpi.launcher]
