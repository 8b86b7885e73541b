# For tools/coverage: everything is compiled as it is written, but the kernels, which would take too long.
function(optimize_kernels)
  file(GLOB kernels "${PROJECT_SOURCE_DIR}/kernels/cpu/*.cc")
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS -O1)
endfunction()
cmake_language(DEFER CALL optimize_kernels)
