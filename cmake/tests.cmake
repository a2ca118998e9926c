# The programs of `crates/sinew-c/tests/c` as tests of ctest, each in a domain directory of its own.
# `cargo test -p sinew-c` runs the same programs against rustc's shared library.

file(GLOB programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/crates/sinew-c/tests/c/*.c)
foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME_WE)
    add_executable(sinew_test_${name} ${program})
    set_target_properties(sinew_test_${name} PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests)
    target_link_libraries(sinew_test_${name} PRIVATE sinew::sinew Threads::Threads)
    add_test(NAME ${name} COMMAND sinew_test_${name})
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/tests/${name}.files)
    set_tests_properties(${name} PROPERTIES
        TIMEOUT 120
        ENVIRONMENT "SINEW_DIR=${directory}/domains;ROS_LOG_DIR=${directory}/log"
        ENVIRONMENT_MODIFICATION "SINEW_DOMAIN_ID=unset:;ROS_DOMAIN_ID=unset:")
    file(MAKE_DIRECTORY ${directory})
endforeach()
