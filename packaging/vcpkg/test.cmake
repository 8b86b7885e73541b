# Builds and uses the port without vcpkg: what a portfile calls is played here, for one static release build with the
# libraries of the system. cmake -P packaging/vcpkg/test.cmake [-DTO=build/vcpkg goes in front of -P]
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
if(NOT TO)
  set(TO "${root}/build/vcpkg")
endif()
set(CURRENT_PACKAGES_DIR "${TO}/packages/dynet-like")
set(tree "${TO}/tree")
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}")

file(READ "${CMAKE_CURRENT_LIST_DIR}/vcpkg.json" manifest)
string(JSON PORT GET "${manifest}" name)
string(JSON version GET "${manifest}" version-semver)
file(STRINGS "${root}/CMakeLists.txt" project REGEX "^ *VERSION ${version}$")
if(NOT project)
  message(FATAL_ERROR "vcpkg.json has version ${version}, the project another")
endif()

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 "" "" SOURCE_PATH OPTIONS)
  run("${CMAKE_COMMAND}" -S "${_SOURCE_PATH}" -B "${tree}" -G Ninja -DCMAKE_BUILD_TYPE=Release
    -DBUILD_SHARED_LIBS=OFF "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}"
    -DCMAKE_INSTALL_LIBDIR:STRING=lib -DCMAKE_INSTALL_BINDIR:STRING=bin ${_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run("${CMAKE_COMMAND}" --build "${tree}" --target install)
endfunction()

# Moves the files and counts the folders up to the prefix again.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 "" "" CONFIG_PATH "")
  set(to "${CURRENT_PACKAGES_DIR}/share/${PORT}")
  file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
  file(RENAME "${CURRENT_PACKAGES_DIR}/${_CONFIG_PATH}" "${to}")
  file(GLOB files "${to}/*.cmake")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
    string(REPLACE "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_FILE}\" PATH)\n"
      "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}\" ABSOLUTE)\n" text "${text}")
    string(REGEX REPLACE "(get_filename_component\\(_IMPORT_PREFIX \"[^\n]*_IMPORT_PREFIX}\" PATH\\)\n)+"
      "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n"
      text "${text}")
    file(WRITE "${file}" "${text}")
  endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
  run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${CURRENT_PACKAGES_DIR}/lib/pkgconfig"
    pkg-config --exact-version=${version} dynet-like dynet-like-compat)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 "" "" "" FILE_LIST)
  configure_file("${_FILE_LIST}" "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" COPYONLY)
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/portfile.cmake")

run("${CMAKE_COMMAND}" -S "${root}/tests/consume/package" -B "${TO}/consumer" -G Ninja -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_FLAGS_RELEASE=-O0 "-Ddynet-like_DIR=${CURRENT_PACKAGES_DIR}/share/dynet-like" -DDYNET_VERSION=${version})
run("${CMAKE_COMMAND}" --build "${TO}/consumer")
run("${CMAKE_CTEST_COMMAND}" --test-dir "${TO}/consumer" --output-on-failure)
