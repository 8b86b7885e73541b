# Headers keep their paths: #include "dynet-like/dynet.h" works in the checkout and when installed.

include(CMakePackageConfigHelpers)

set(dynet_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dynet-like")

install(TARGETS dynet-like dynet-like-c dynet-like-compat EXPORT dynet-like-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
  FILE_SET moved DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(EXPORT dynet-like-targets NAMESPACE dynet-like:: DESTINATION "${dynet_package_dir}" COMPONENT development)

# A separate export: only users of the component `mpi` need MPI.
if(TARGET dynet-like-mpi)
  install(TARGETS dynet-like-mpi EXPORT dynet-like-mpi-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development)
  install(EXPORT dynet-like-mpi-targets NAMESPACE dynet-like:: DESTINATION "${dynet_package_dir}"
    COMPONENT development)
endif()

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/dynet-like-config.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/dynet-like-config.cmake"
  INSTALL_DESTINATION "${dynet_package_dir}")
write_basic_package_version_file(
  "${CMAKE_CURRENT_BINARY_DIR}/dynet-like-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/dynet-like-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/dynet-like-config-version.cmake"
  DESTINATION "${dynet_package_dir}" COMPONENT development)

include("${CMAKE_CURRENT_LIST_DIR}/pkgconfig.cmake")
if(DYNET_DEBIAN)
  include("${CMAKE_CURRENT_LIST_DIR}/debian.cmake")
endif()
