# Toolchain for WebAssembly: Debian's Emscripten. tools/wasm prepares what it needs.
find_path(dynet_emscripten cmake/Modules/Platform/Emscripten.cmake
  HINTS ENV EMSDK PATHS /usr/share/emscripten PATH_SUFFIXES upstream/emscripten REQUIRED NO_CMAKE_FIND_ROOT_PATH)
include("${dynet_emscripten}/cmake/Modules/Platform/Emscripten.cmake")
set(CMAKE_CXX_FLAGS_INIT
  "-fwasm-exceptions -msimd128 -isystem \"${CMAKE_CURRENT_LIST_DIR}/include\" -include library_additions.h")
