# Programs as tests of ctest, each in a domain directory of its own: those of `crates/sinew-c/tests/c`
# and `crates/sinew-c/tests/cpp`, which `cargo test -p sinew-c` runs against rustc's shared library.

# sinew_test(NAME COMMAND..): a test with a domain of its own.
function(sinew_test name)
    add_test(NAME ${name} COMMAND ${ARGN})
    set(directory ${PROJECT_BINARY_DIR}/tests/${name}.files)
    set_tests_properties(${name} PROPERTIES
        TIMEOUT 120
        ENVIRONMENT "SINEW_DIR=${directory}/domains;ROS_LOG_DIR=${directory}/log"
        ENVIRONMENT_MODIFICATION "SINEW_DOMAIN_ID=unset:;ROS_DOMAIN_ID=unset:")
    file(MAKE_DIRECTORY ${directory})
endfunction()

# sinew_test_program(NAME SOURCE): the target of a program that is a test.
function(sinew_test_program name source)
    add_executable(sinew_test_${name} ${source})
    set_target_properties(sinew_test_${name} PROPERTIES OUTPUT_NAME ${name}
        C_STANDARD 11 C_EXTENSIONS OFF CXX_STANDARD 17 CXX_EXTENSIONS OFF
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests)
    target_link_libraries(sinew_test_${name} PRIVATE sinew::sinew Threads::Threads)
    sinew_test(${name} sinew_test_${name})
endfunction()

set(sources ${PROJECT_SOURCE_DIR}/crates/sinew-c/tests)
file(GLOB programs CONFIGURE_DEPENDS ${sources}/c/*.c)
foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME_WE)
    sinew_test_program(${name} ${program})
endforeach()

if(CMAKE_CXX_COMPILER)
    # The headers are compiled once, for the first program, and all others use them.
    file(GLOB programs CONFIGURE_DEPENDS ${sources}/cpp/*.cpp)
    foreach(program IN LISTS programs)
        get_filename_component(name ${program} NAME_WE)
        set(name cpp_${name})
        sinew_test_program(${name} ${program})
        target_link_libraries(sinew_test_${name} PRIVATE sinew::rclcpp)
        if(NOT headers)
            target_precompile_headers(sinew_test_${name} PRIVATE <sinew/sinew.hpp>)
            set(headers sinew_test_${name})
        else()
            target_precompile_headers(sinew_test_${name} REUSE_FROM ${headers})
        endif()
    endforeach()
    # Components are in a shared library that its program loads.
    add_library(sinew_test_components SHARED ${sources}/cpp/libraries/components.cpp)
    target_include_directories(sinew_test_components PRIVATE ${sources}/cpp)
    target_link_libraries(sinew_test_components PRIVATE sinew::rclcpp)
    add_dependencies(sinew_test_cpp_components sinew_test_components)
    set_property(TEST cpp_components APPEND PROPERTY
        ENVIRONMENT "COMPONENT_LIBRARY=$<TARGET_FILE:sinew_test_components>")
endif()
add_test(NAME header_names COMMAND ${CMAKE_COMMAND} -DINTERFACES=${sinew_definitions}
    -DHEADERS=${sinew_interfaces_include} -P ${sources}/cmake/header_names.cmake)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    add_test(NAME library_size COMMAND ${CMAKE_COMMAND} -DLIBRARY=$<TARGET_FILE:sinew> -DSTRIP=${CMAKE_STRIP}
        -DMOST=4000000 -P ${sources}/cmake/library_size.cmake)
endif()
