# Shared by the scripts of tools/ and .ci/run; sourced, never run.

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs the Debian packages that are missing; does nothing, and needs no network, if there are none.
install_packages() {
  local missing=() name
  if ! command -v dpkg-query > /dev/null; then
    echo "This is not a Debian system; install what these Debian packages hold: $*" >&2
    return 0
  fi
  for name in "$@"; do
    # dpkg-query prints a line for each of several architectures.
    dpkg-query -W -f '${db:Status-Status}\n' "$name" 2> /dev/null | grep -qx installed || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "Installing ${missing[*]}"
  as_root apt-get -qq update
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
}

# Packages to compile the library, and to compile and run the tests.
build_packages=(g++ cmake ninja-build ccache libeigen3-dev libboost-serialization-dev
  nlohmann-json3-dev libxxhash-dev)
test_packages=("${build_packages[@]}" catch2 libboost-context-dev zlib1g-dev libcli11-dev libicu-dev bible-kjv pkg-config
  python3 libpng-dev libfreetype-dev libharfbuzz-dev libpugixml-dev fonts-noto-color-emoji unicode-data
  unicode-cldr-core libopenmpi-dev openmpi-bin libmpich-dev mpich)

# Compiling the same file again, in another build folder, then costs nothing.
use_ccache() {
  if command -v ccache > /dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_SLOPPINESS=pch_defines,time_macros  # else nothing with a precompiled header is kept
  fi
}

build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}
