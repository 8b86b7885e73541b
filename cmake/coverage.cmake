# For tools/coverage: everything is compiled as it is written, but the kernels, which would take too long. No
# function is inlined there, so that each has counts of its own.
function(optimize_kernels)
  file(GLOB kernels "${PROJECT_SOURCE_DIR}/kernels/cpu/*.cc")
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS "-O1;-fno-inline;-Dalways_inline=noinline")
endfunction()
cmake_language(DEFER CALL optimize_kernels)
