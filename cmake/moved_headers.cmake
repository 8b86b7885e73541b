# Headers of 0.1.0 at their old paths, which include the new ones; to be removed in 0.3.0.

file(GLOB_RECURSE dynet_moved RELATIVE "${PROJECT_SOURCE_DIR}/dynet-like"
  "${PROJECT_SOURCE_DIR}/dynet-like/layers/*.h" "${PROJECT_SOURCE_DIR}/dynet-like/structures/*.h")
set(dynet_forwarding_dir "${CMAKE_CURRENT_BINARY_DIR}/moved")
set(dynet_forwarding_headers "")

function(dynet_forward old new)
  set(header "${dynet_forwarding_dir}/dynet-like/${old}")
  file(CONFIGURE OUTPUT "${header}" CONTENT "#pragma once\n\n#include \"dynet-like/${new}\"\n")
  list(APPEND dynet_forwarding_headers "${header}")
  set(dynet_forwarding_headers "${dynet_forwarding_headers}" PARENT_SCOPE)
endfunction()

foreach(new IN LISTS dynet_moved)
  get_filename_component(name "${new}" NAME)
  if(new MATCHES "^structures/(.*)/(op|attributes)\\.h$")
    set(folder_op ops)
    set(folder_attributes attributes)
    dynet_forward("${folder_${CMAKE_MATCH_2}}/${CMAKE_MATCH_1}.h" "${new}")
  elseif(NOT name STREQUAL shape.h)
    dynet_forward("nn/${name}" "${new}")
  endif()
endforeach()
dynet_forward(tensor/tensor.h shape/tensor.h)
dynet_forward(debug/grad_check.h run/grad_check.h)

target_sources(dynet-like PUBLIC
  FILE_SET moved TYPE HEADERS BASE_DIRS "${dynet_forwarding_dir}" FILES ${dynet_forwarding_headers})
