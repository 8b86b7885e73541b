# Exported symbols of a shared library: namespace dynet without dynet::cpu. Kernels, Eigen and template instances of the
# standard library, Boost and nlohmann-json are hidden, to avoid conflicts with a program's own copies. See
# docs/packaging.md.

# Functions, tables and types of classes, construction tables, thunks, and static variables of functions.
set(dynet_symbol_kinds _ZN _ZNK _ZNR _ZNO _ZNKR _ZNKO _ZTVN _ZTTN _ZTIN _ZTSN _ZTCN _ZTh*_N _ZTh*_NK _ZTv*_N
  _ZTv*_NK _ZTc*_N _ZTc*_NK _ZGVN _ZZN _ZZNK _ZGVZN _ZGVZNK)
# A pattern in `global` overrides one in `local`, so these patterns spell "not 3cpu" letter by letter.
set(dynet_shown_names "5dynet[!3]*" "5dynet3[!c]*" "5dynet3c[!p]*" "5dynet3cp[!u]*")

# The binary interface changes with the second number of a version, as in `find_package`.
set(dynet_abi "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")

if(BUILD_SHARED_LIBS AND UNIX AND NOT APPLE)
  set(dynet_exports "${CMAKE_CURRENT_BINARY_DIR}/exports.map")
  set(patterns "")
  foreach(kind IN LISTS dynet_symbol_kinds)
    foreach(name IN LISTS dynet_shown_names)
      string(APPEND patterns "    ${kind}${name};\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${dynet_exports}" CONTENT
    "DYNET_LIKE_${dynet_abi} {\n  global:\n${patterns}  local:\n    *;\n};\n")
endif()

# Sets the version of a library, and the exported symbols of a shared one. A shared library in its own folder finds the
# others there.
function(dynet_export target)
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${dynet_abi})
  if(dynet_exports)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${dynet_exports}")
    set_target_properties(${target} PROPERTIES LINK_DEPENDS "${dynet_exports}" INSTALL_RPATH "$ORIGIN")
  endif()
endfunction()

# Lets an installed program find the shared library next to it.
function(dynet_find_library_at_run_time target)
  if(dynet_exports)
    file(RELATIVE_PATH folder "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${folder}")
  endif()
endfunction()
