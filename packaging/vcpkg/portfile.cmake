# An overlay port that builds the checkout it lies in: vcpkg install dynet-like --overlay-ports=packaging/vcpkg
# See docs/packaging.md.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DDYNET_TESTS=OFF
    -DDYNET_EXAMPLES=OFF
    -DDYNET_TOOLS=OFF
    -DDYNET_BENCHMARKS=OFF
    -DDYNET_CUDA=OFF
    -DDYNET_NATIVE=OFF
    -DDYNET_ZLIB=OFF
    -DDYNET_INSTALL=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/dynet-like)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
