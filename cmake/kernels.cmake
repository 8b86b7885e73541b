# CPU kernels, compiled from the same sources for each instruction set and selected at program start.
# See docs/design/execution.md.

file(GLOB dynet_kernel_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/kernels/cpu/*.cc")
# Sources without a version in double, including loops over parameters.
set(dynet_float_sources "${PROJECT_SOURCE_DIR}/kernels/cpu/bf16_product.cc" "${PROJECT_SOURCE_DIR}/kernels/cpu/int8_product.cc"
  "${PROJECT_SOURCE_DIR}/dynet-like/param/norm.cc" "${PROJECT_SOURCE_DIR}/dynet-like/train/update_kernels.cc")
list(REMOVE_ITEM dynet_kernel_sources ${dynet_float_sources})

# The GNU linker and objcopy combine the kernels of an instruction set into one object, independent of the program's
# linker.
find_program(DYNET_LD NAMES ld.bfd ld)
find_program(DYNET_OBJCOPY NAMES objcopy)
mark_as_advanced(DYNET_LD DYNET_OBJCOPY)
set(dynet_all_isas OFF)
if(NOT DYNET_NATIVE AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8
   AND DYNET_LD AND DYNET_OBJCOPY)
  execute_process(COMMAND "${DYNET_LD}" --help OUTPUT_VARIABLE dynet_ld_help ERROR_QUIET)
  if(dynet_ld_help MATCHES "force-group-allocation")
    set(dynet_all_isas ON)
  endif()
endif()

# Compilers make several versions of a loop for alignments or lengths; all versions of these files must round alike.
# Product kernels ensure that themselves.
set_source_files_properties("${PROJECT_SOURCE_DIR}/kernels/cpu/noise.cc"
  "${PROJECT_SOURCE_DIR}/kernels/cpu/recurrent.cc" "${PROJECT_SOURCE_DIR}/kernels/cpu/broadcast.cc"
  "${PROJECT_SOURCE_DIR}/kernels/cpu/int8_product.cc"
  PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

# Compiles the kernels in namespace dynet::cpu::ISA for one scalar type and adds them to a target. Only kernels include
# Eigen, so programs that link the library need no copy. Its namespace is renamed, since a program may use its own Eigen
# for another instruction set, and the linker would merge the two copies of each inline function.
function(dynet_add_kernels_for target name isa scalar)
  set(kernels ${target}-kernels-${name})
  set(sources ${dynet_kernel_sources})
  if(scalar STREQUAL float)
    list(APPEND sources ${dynet_float_sources})
  endif()
  add_library(${kernels} OBJECT ${sources})
  dynet_settings(${kernels})
  dynet_tune(${kernels})
  dynet_options(${kernels} ${ARGN})
  target_compile_features(${kernels} PRIVATE cxx_std_20)
  target_compile_definitions(${kernels} PRIVATE
    DYNET_ISA=${isa} DYNET_SCALAR=${scalar} Eigen=dynet_eigen_${isa} $<$<BOOL:${dynet_all_isas}>:DYNET_ALL_ISAS>)
  target_include_directories(${kernels} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_include_directories(${kernels} SYSTEM PRIVATE
    "$<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>")
  set_target_properties(${kernels} PROPERTIES UNITY_BUILD ${DYNET_UNITY} UNITY_BUILD_BATCH_SIZE 12
    POSITION_INDEPENDENT_CODE ${dynet_pic})
  if(DYNET_UNITY)
    dynet_options(${kernels} $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(DYNET_SANITIZE)
    dynet_sanitize(${kernels})
    if(DYNET_SANITIZE MATCHES fuzzer)  # Clang is five times slower when optimizing instrumented code
      dynet_options(${kernels} -O0)
    elseif(DYNET_SANITIZE MATCHES address)  # calls in place of inlined checks compile in half of the time
      dynet_options(${kernels} $<$<CXX_COMPILER_ID:GNU>:SHELL:--param=asan-instrumentation-with-call-threshold=0>)
    endif()
  else()
    target_compile_definitions(${kernels} PRIVATE EIGEN_NO_DEBUG)
  endif()
  if(isa STREQUAL baseline)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${kernels}>)
    return()
  endif()
  # objcopy does not hide symbols that are unique in the program.
  dynet_options(${kernels} $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  # One object that exports its kernels only: inline functions, such as those of the standard library, must never be
  # linked from here into a program for a lesser CPU.
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${kernels}.o")
  string(LENGTH ${isa} length)
  add_custom_command(OUTPUT "${object}"
    COMMAND ${DYNET_LD} -r --force-group-allocation -o "${object}" $<TARGET_OBJECTS:${kernels}>
    COMMAND ${DYNET_OBJCOPY} --wildcard --keep-global-symbol=_ZN5dynet3cpu${length}${isa}* "${object}"
    DEPENDS $<TARGET_OBJECTS:${kernels}>
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Kernels for ${isa}")
  target_sources(${target} PRIVATE "${object}")
  add_dependencies(${target} ${kernels})  # make tracks objects by target only
  set_property(GLOBAL APPEND PROPERTY dynet_kernel_objects "${object}")
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
endfunction()

function(dynet_add_kernels target)
  if(dynet_all_isas)
    # Tests and benchmarks also call kernels directly.
    target_compile_definitions(${target} PUBLIC $<BUILD_INTERFACE:DYNET_ALL_ISAS>)
    # Less optimization compiles faster, for kernels whose speed matters less.
    dynet_add_kernels_for(${target} baseline baseline float $<$<CONFIG:Release,RelWithDebInfo>:-O2>)
    dynet_add_kernels_for(${target} avx2 avx2 float -march=x86-64-v3)
    dynet_add_kernels_for(${target} avx512 avx512 float -march=x86-64-v4 -mprefer-vector-width=512)
    dynet_add_kernels_for(${target} double baseline double $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
  else()
    set(tuning)
    set(name baseline)
    if(DYNET_NATIVE)
      set(tuning -march=native)
      set(name native)
    endif()
    set_source_files_properties("${PROJECT_SOURCE_DIR}/dynet-like/base/isa.cc" PROPERTIES
      COMPILE_DEFINITIONS DYNET_ONLY_ISA="${name}")
    dynet_add_kernels_for(${target} float baseline float ${tuning})
    dynet_add_kernels_for(${target} double baseline double ${tuning} $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
  endif()
endfunction()
