# Installs a command-line program if it was built, in the component `tools`, with its manual page and its completion
# scripts for bash and zsh. The program prints these itself after linking; a program for another machine has none.
function(dynet_install_program target name)
  dynet_find_library_at_run_time(${target})
  install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools OPTIONAL)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(page "${CMAKE_CURRENT_BINARY_DIR}/${name}.1")
  set(bash "${CMAKE_CURRENT_BINARY_DIR}/${name}.bash")
  set(zsh "${CMAKE_CURRENT_BINARY_DIR}/_${name}")
  set(zsh_folder zsh/site-functions)
  set(compress "")
  if(DYNET_DEBIAN)
    set(compress COMMAND gzip -9nf "${page}")
    string(APPEND page .gz)
    set(zsh_folder zsh/vendor-completions)
  endif()
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${target} --man-page > "${CMAKE_CURRENT_BINARY_DIR}/${name}.1"
    COMMAND ${target} --bash-completion > "${bash}"
    COMMAND ${target} --zsh-completion > "${zsh}"
    ${compress} BYPRODUCTS "${page}" "${bash}" "${zsh}" VERBATIM)
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tools OPTIONAL)
  install(FILES "${bash}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME ${name}
    COMPONENT tools OPTIONAL)
  install(FILES "${zsh}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${zsh_folder}" COMPONENT tools OPTIONAL)
endfunction()
