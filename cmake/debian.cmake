# Debian packages of tools/deb: the library, its headers, the tools.
# See docs/packaging.md.
set(debian "${PROJECT_SOURCE_DIR}/packaging/debian")
set(library_package "libdynet-like${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")

# Maintainer, from the variables of Debian's tools.
set(debian_name "$ENV{DEBFULLNAME}")
set(debian_email "$ENV{DEBEMAIL}")
if(NOT debian_name OR NOT debian_email)
  set(debian_name "The dynet-like maintainers")
  set(debian_email "maintainers@dynet-like.example")
endif()

file(STRINGS "${debian}/changelog.in" newest LIMIT_COUNT 1)
if(NOT newest MATCHES "^dynet-like \\(${PROJECT_VERSION}-([0-9]+)\\) ")
  message(FATAL_ERROR "packaging/debian/changelog.in does not begin with version ${PROJECT_VERSION}")
endif()
set(CPACK_DEBIAN_PACKAGE_RELEASE "${CMAKE_MATCH_1}")

# Licence and changelog of each package.
set(files "${CMAKE_CURRENT_BINARY_DIR}/debian")
configure_file("${debian}/changelog.in" "${files}/changelog.Debian" @ONLY)
configure_file("${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${files}/changelog" COPYONLY)
execute_process(COMMAND gzip -9nf "${files}/changelog.Debian" "${files}/changelog" COMMAND_ERROR_IS_FATAL ANY)
function(add_debian_files component package)
  install(FILES "${debian}/copyright" "${files}/changelog.Debian.gz" "${files}/changelog.gz"
    DESTINATION "share/doc/${package}" COMPONENT ${component})
  if(EXISTS "${debian}/${package}.lintian-overrides")
    install(FILES "${debian}/${package}.lintian-overrides"
      DESTINATION share/lintian/overrides RENAME ${package} COMPONENT ${component})
  endif()
endfunction()
add_debian_files(library ${library_package})
add_debian_files(development libdynet-like-dev)
add_debian_files(tools dynet-like)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dynet-like)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SOURCE dynet-like)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${debian_name} <${debian_email}>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}" "${PROJECT_BINARY_DIR}/dynet-like/c"
  "${PROJECT_BINARY_DIR}/dynet-like/compat")
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)

# Before 1.0 any version may change the ABI: programs depend on the version that they were linked with.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")

set(what "Networks are ordinary expressions, rebuilt for every sample, so that their
shape may follow that of the sample: a sentence, a tree, a graph. The interface
is that of DyNet 2.1. Batching is automatic, and a program takes the best
kernels that the CPU can run.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${debian}/triggers")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "dynamic neural networks for C++20 - shared library
${what}
.
This package has the shared libraries.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libdynet-like-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS library)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libboost-serialization-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "dynamic neural networks for C++20 - development files
${what}
.
This package has what programs are compiled with: headers, and files for CMake
and pkg-config.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME dynet-like)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_COMPONENT_TOOLS_DEPENDS library)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "taggers, parsers, classifiers and language models that learn from text
Command-line tools that learn from annotated text and run on it: a tagger, a
classifier of texts, a dependency parser, a classifier of sentiment trees and a
language model; and dynet-like, which shows, compares and converts model files.
.
They train and run on the CPU and need no other files.")

include(CPack)
