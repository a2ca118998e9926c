# What `cmake --install` gives: the headers of C and C++, both libraries, ROS 2's messages, the generator
# for others, and what makes `find_package(sinew)` and `pkg-config sinew` find them. The prefix may be
# moved afterwards.

include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
install(DIRECTORY ${sinew_header_directory}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${sinew_rclcpp_include}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sinew-rclcpp)
install(DIRECTORY ${sinew_interfaces_include}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sinew-interfaces)
install(DIRECTORY ${sinew_definitions} DESTINATION ${CMAKE_INSTALL_DATADIR}/sinew)
install(PROGRAMS ${sinew_profile_directory}/sinew-generate-cpp DESTINATION ${CMAKE_INSTALL_BINDIR})
get_property(targets GLOBAL PROPERTY SINEW_TARGETS)
install(TARGETS sinew sinew_static ${targets} EXPORT sinewTargets)
add_custom_target(sinew_installed ALL DEPENDS sinew_interfaces_headers) # built to be installed
install(FILES ${sinew_archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libsinew.a)
install(EXPORT sinewTargets NAMESPACE sinew:: DESTINATION ${package})

configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/sinewConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/sinewConfig.cmake
    INSTALL_DESTINATION ${package}
    PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_DATADIR
    NO_SET_AND_CHECK_MACRO)
# Before 1.0 the second number counts changes that break programs.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sinewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/sinewConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/sinewConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/sinewInterfaces.cmake
    DESTINATION ${package})

file(RELATIVE_PATH up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/sinew.pc.in ${CMAKE_CURRENT_BINARY_DIR}/sinew.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sinew.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
