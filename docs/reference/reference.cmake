# The target "reference": web pages of all that dynet.h includes, and of the forms of operations. A
# warning of Doxygen is an error.

find_package(Doxygen 1.9 QUIET)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT DOXYGEN_FOUND OR NOT Python3_FOUND)
  return()
endif()

file(STRINGS "${PROJECT_SOURCE_DIR}/dynet-like/dynet.h" includes REGEX "^#include \"")
set(reference_headers "\"${PROJECT_SOURCE_DIR}/dynet-like/dynet.h\"")
foreach(include IN LISTS includes ITEMS "\"dynet-like/ops/form.h\"")
  string(REGEX REPLACE "^.*\"(.*)\".*$" "${PROJECT_SOURCE_DIR}/\\1" header "${include}")
  string(APPEND reference_headers " \"${header}\"")
endforeach()
configure_file("${CMAKE_CURRENT_LIST_DIR}/Doxyfile.in" "${CMAKE_CURRENT_BINARY_DIR}/Doxyfile" @ONLY)
add_custom_target(reference
  COMMAND Doxygen::doxygen "${CMAKE_CURRENT_BINARY_DIR}/Doxyfile"
  COMMENT "reference/html/index.html" VERBATIM)
