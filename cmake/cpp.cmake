# sinew::cpp, the headers for C++17; sinew::rclcpp, with which the includes of rclcpp's users compile
# unchanged; and the messages of ROS 2: sinew::std_msgs and so on. None of these needs a C++ compiler
# before a target links them.

set(sinew_include ${PROJECT_SOURCE_DIR}/crates/sinew-c/include)
set(sinew_rclcpp_include ${PROJECT_SOURCE_DIR}/crates/sinew-c/rclcpp)
set(sinew_definitions ${PROJECT_SOURCE_DIR}/crates/sinew-interfaces/interfaces)

# The generator is built by cargo when a target needs headers of messages, and to be installed.
set(sinew_profile_directory ${SINEW_CARGO_TARGET_DIR}/$<IF:$<CONFIG:Debug>,debug,release>)
add_custom_target(sinew_generator
    COMMAND ${SINEW_CARGO} build --package sinew-build --features command --bin sinew-generate-cpp
        --profile $<IF:$<CONFIG:Debug>,dev,release>
        --manifest-path ${PROJECT_SOURCE_DIR}/Cargo.toml --target-dir ${SINEW_CARGO_TARGET_DIR}
        --locked $<$<BOOL:${SINEW_OFFLINE}>:--offline>
    BYPRODUCTS ${sinew_profile_directory}/sinew-generate-cpp
    COMMENT "Building sinew-generate-cpp with cargo"
    COMMAND_EXPAND_LISTS USES_TERMINAL VERBATIM)
add_dependencies(sinew_generator sinew_cargo) # one cargo at a time
add_executable(sinew::generate_cpp IMPORTED GLOBAL)
set_target_properties(sinew::generate_cpp PROPERTIES
    IMPORTED_LOCATION ${SINEW_CARGO_TARGET_DIR}/release/sinew-generate-cpp
    IMPORTED_LOCATION_DEBUG ${SINEW_CARGO_TARGET_DIR}/debug/sinew-generate-cpp)
add_dependencies(sinew::generate_cpp sinew_generator)

# sinew_target(NAME): makes the interface library sinew::NAME, which is installed.
function(sinew_target name)
    add_library(sinew_${name} INTERFACE)
    add_library(sinew::${name} ALIAS sinew_${name})
    set_target_properties(sinew_${name} PROPERTIES EXPORT_NAME ${name})
    set_property(GLOBAL APPEND PROPERTY SINEW_TARGETS sinew_${name})
endfunction()

sinew_target(cpp)
set_target_properties(sinew_cpp PROPERTIES INTERFACE_COMPILE_FEATURES cxx_std_17)
target_link_libraries(sinew_cpp INTERFACE sinew Threads::Threads)

# All packages are generated at once, into one directory: that takes a fraction of a second.
include(${PROJECT_SOURCE_DIR}/cmake/sinewInterfaces.cmake)
set_property(GLOBAL PROPERTY SINEW_DEFINITIONS ${sinew_definitions})
file(GLOB packages ${sinew_definitions}/*)
sinew_headers(sinew_interfaces ${packages})
set(sinew_interfaces_include ${CMAKE_CURRENT_BINARY_DIR}/sinew_interfaces)
sinew_target(interfaces)
target_link_libraries(sinew_interfaces INTERFACE sinew_cpp)
target_include_directories(sinew_interfaces INTERFACE
    $<BUILD_INTERFACE:${sinew_interfaces_include}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/sinew-interfaces>)
add_dependencies(sinew_interfaces sinew_interfaces_headers)
foreach(package IN LISTS packages)
    get_filename_component(name ${package} NAME)
    sinew_target(${name})
    target_link_libraries(sinew_${name} INTERFACE sinew_interfaces)
endforeach()

sinew_target(rclcpp)
target_link_libraries(sinew_rclcpp INTERFACE sinew_interfaces)
target_include_directories(sinew_rclcpp INTERFACE
    $<BUILD_INTERFACE:${sinew_rclcpp_include}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/sinew-rclcpp>)
