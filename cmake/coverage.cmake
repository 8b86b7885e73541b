# For tools/coverage: compiles without optimization, except the kernels, which would be too slow. Inlining is disabled
# for them, so that each function has its own counts.
function(optimize_kernels)
  file(GLOB kernels "${PROJECT_SOURCE_DIR}/kernels/cpu/*.cc")
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS "-O1;-fno-inline;-Dalways_inline=noinline")
endfunction()
cmake_language(DEFER CALL optimize_kernels)
