# Programs are compiled with what pkg-config says of the installed library, and run.
#   cmake -DPKG_CONFIG=... -DCOMPILER=... -DINSTALLED=FOLDER -DVERSION=... -DSOURCES=tests -DTO=FOLDER -P pkg_config.cmake
set(ENV{PKG_CONFIG_PATH} "${INSTALLED}/pkgconfig")
set(ENV{LD_LIBRARY_PATH} "${INSTALLED}:$ENV{LD_LIBRARY_PATH}")
file(MAKE_DIRECTORY "${TO}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(compile_and_run package language source)
  execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs ${package}
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run("${COMPILER}" ${language} -O0 "${SOURCES}/${source}" -x none ${flags} -o "${TO}/${package}")
  execute_process(COMMAND "${TO}/${package}" ${ARGN} WORKING_DIRECTORY "${TO}"
    COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run("${PKG_CONFIG}" --exact-version=${VERSION} dynet-like)
compile_and_run(dynet-like -std=c++20 consume/trees.cc)
compile_and_run(dynet-like-compat -std=c++20 compat/programs/xor.cc --dynet-seed=5)
file(WRITE "${TO}/tagged" "the D\ndog N\n\nto T\nsee V\n")
compile_and_run(dynet-like-c "-xc;-std=c99" ../examples/c/tagger.c train "${TO}/tagged" "${TO}/tagger.model")
