# What `cmake --install` gives: the header, both libraries, and what makes `find_package(sinew)` and
# `pkg-config sinew` find them. The prefix may be moved afterwards.

include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
install(DIRECTORY ${sinew_header_directory}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS sinew sinew_static EXPORT sinewTargets)
install(FILES ${sinew_archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libsinew.a)
install(EXPORT sinewTargets NAMESPACE sinew:: DESTINATION ${package})

configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/sinewConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/sinewConfig.cmake
    INSTALL_DESTINATION ${package}
    NO_SET_AND_CHECK_MACRO)
# Before 1.0 the second number counts changes that break programs.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sinewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sinewConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/sinewConfigVersion.cmake
    DESTINATION ${package})

file(RELATIVE_PATH up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/sinew.pc.in ${CMAKE_CURRENT_BINARY_DIR}/sinew.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sinew.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
