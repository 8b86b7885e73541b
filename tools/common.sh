# Functions of the scripts in tools/ and of .ci/run; to be sourced.

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs missing Debian packages; needs no network if all are installed.
install_packages() {
  local missing=() name
  if ! command -v dpkg-query > /dev/null; then
    echo "This is not a Debian system; install what these Debian packages hold: $*" >&2
    return 0
  fi
  for name in "$@"; do
    # dpkg-query prints one line per architecture.
    dpkg-query -W -f '${db:Status-Status}\n' "$name" 2> /dev/null | grep -qx installed || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "Installing ${missing[*]}"
  as_root apt-get -qq update
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
}

# Packages for compiling the library, and for compiling and running the tests.
build_packages=(g++ cmake ninja-build ccache libeigen3-dev libboost-serialization-dev
  nlohmann-json3-dev libxxhash-dev)
test_packages=("${build_packages[@]}" catch2 libboost-context-dev zlib1g-dev libcli11-dev libicu-dev libutf8proc-dev bible-kjv pkg-config
  python3 groff-base man-db zsh libpng-dev libfreetype-dev libharfbuzz-dev libpugixml-dev fonts-noto-color-emoji unicode-data
  unicode-cldr-core libopenmpi-dev openmpi-bin libmpich-dev mpich)

# Caches compiled files across build folders.
use_ccache() {
  if command -v ccache > /dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_SLOPPINESS=pch_defines,time_macros  # needed for files with a precompiled header
  fi
}

build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}
