# sinew::container, the program sinew-container, which makes nodes of shared libraries of C and C++.

add_executable(sinew_container ${PROJECT_SOURCE_DIR}/crates/sinew-c/container/sinew_container.c)
file(RELATIVE_PATH from_program_to_library /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(sinew_container PROPERTIES OUTPUT_NAME sinew-container C_STANDARD 11
    INSTALL_RPATH $ORIGIN/${from_program_to_library})
add_executable(sinew::container ALIAS sinew_container)
target_link_libraries(sinew_container PRIVATE sinew::sinew)
if(SINEW_INSTALL)
    install(TARGETS sinew_container)
endif()
