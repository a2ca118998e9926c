# C++ headers from interface definitions, and headers that are compiled once, for Sinew's own build and
# for projects that found Sinew.

# sinew_generate_interfaces(TARGET [PACKAGES folder..] [FILES package/msg/Name.msg..] [SEARCH folder..])
#
# Makes TARGET, an interface library whose users can include the headers of these definitions: of all
# in the folders of PACKAGES, which have the names of the packages, and of those in FILES. They are
# generated when the project is built, and again when a definition changes. Types of fields may be of
# the packages that Sinew has, of PACKAGES, and of packages in a folder of SEARCH, for which the
# project links a target that has their headers.
#
#     sinew_generate_interfaces(arm_msgs PACKAGES interfaces/arm_msgs)
#     target_link_libraries(driver PRIVATE arm_msgs)
function(sinew_generate_interfaces target)
    cmake_parse_arguments(PARSE_ARGV 1 argument "" "" "FILES;PACKAGES;SEARCH")
    if(argument_UNPARSED_ARGUMENTS OR NOT (argument_FILES OR argument_PACKAGES))
        message(FATAL_ERROR "sinew_generate_interfaces(TARGET [PACKAGES ..] [FILES ..] [SEARCH ..]) "
            "needs packages or files; without a meaning: `${argument_UNPARSED_ARGUMENTS}`")
    endif()
    get_property(definitions GLOBAL PROPERTY SINEW_DEFINITIONS)
    sinew_headers(${target} ${argument_PACKAGES} ${argument_FILES} SEARCH ${argument_SEARCH} ${definitions})
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE sinew::interfaces)
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/${target}>
        $<INSTALL_INTERFACE:include/${target}>)
    add_library(${target}::${target} ALIAS ${target}) # its name where it is installed
    set_target_properties(${target} PROPERTIES
        SINEW_PACKAGES "${argument_PACKAGES}"
        SINEW_FILES "${argument_FILES}")
    add_dependencies(${target} ${target}_headers)
endfunction()

# sinew_install_interfaces(TARGET [DEPENDENCIES package..])
#
# Installs TARGET, made by `sinew_generate_interfaces` in this directory, as a package: other projects
# have `find_package(TARGET)`, which finds Sinew as well, link TARGET::TARGET, and use its types in
# definitions of their own. DEPENDENCIES are the packages of other targets that TARGET links. A project
# that has Sinew as a subdirectory installs that, too (SINEW_INSTALL).
function(sinew_install_interfaces target)
    cmake_parse_arguments(PARSE_ARGV 1 argument "" "" "DEPENDENCIES")
    if(argument_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "sinew_install_interfaces(TARGET [DEPENDENCIES ..]): "
            "without a meaning: `${argument_UNPARSED_ARGUMENTS}`")
    endif()
    include(GNUInstallDirs)
    include(CMakePackageConfigHelpers)
    set(package ${CMAKE_INSTALL_LIBDIR}/cmake/${target})
    set(definitions ${CMAKE_INSTALL_DATADIR}/${target}/interfaces)
    add_custom_target(${target}_installed ALL DEPENDS ${target}_headers) # built to be installed
    install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target}/ DESTINATION include/${target})
    get_target_property(packages ${target} SINEW_PACKAGES)
    if(packages)
        install(DIRECTORY ${packages} DESTINATION ${definitions})
    endif()
    get_target_property(files ${target} SINEW_FILES)
    if(NOT files)
        set(files)
    endif()
    foreach(file IN LISTS files)
        get_filename_component(kind ${file} DIRECTORY)
        get_filename_component(folder ${kind} DIRECTORY)
        get_filename_component(kind ${kind} NAME)
        get_filename_component(folder ${folder} NAME)
        install(FILES ${file} DESTINATION ${definitions}/${folder}/${kind})
    endforeach()
    install(TARGETS ${target} EXPORT ${target}Targets)
    install(EXPORT ${target}Targets NAMESPACE ${target}:: DESTINATION ${package})
    # The prefix is used first: packages that are found replace its variable.
    string(CONCAT config
        "@PACKAGE_INIT@\nset(${target}_DEFINITIONS @PACKAGE_definitions@)\n"
        "include(CMakeFindDependencyMacro)\nfind_dependency(sinew ${sinew_VERSION})\n")
    foreach(dependency IN LISTS argument_DEPENDENCIES)
        string(APPEND config "find_dependency(${dependency})\n")
    endforeach()
    string(APPEND config
        "include(\${CMAKE_CURRENT_LIST_DIR}/${target}Targets.cmake)\n"
        "set(${target}_TARGETS ${target}::${target})\n"
        "set_property(GLOBAL APPEND PROPERTY SINEW_DEFINITIONS \${${target}_DEFINITIONS})\n")
    set(template ${CMAKE_CURRENT_BINARY_DIR}/${target}Config.cmake.in)
    file(WRITE ${template} "${config}")
    configure_package_config_file(${template} ${CMAKE_CURRENT_BINARY_DIR}/${target}Config.cmake
        INSTALL_DESTINATION ${package} PATH_VARS definitions
        NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${target}Config.cmake DESTINATION ${package})
endfunction()

# sinew_headers(NAME folder.. package/msg/Name.msg.. [SEARCH folder..]): the target NAME_headers writes
# the headers into the directory NAME of the binary directory.
function(sinew_headers name)
    cmake_parse_arguments(PARSE_ARGV 1 argument "" "" "SEARCH")
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name})
    set(definitions)
    set(arguments)
    foreach(path IN LISTS argument_UNPARSED_ARGUMENTS)
        get_filename_component(path ${path} ABSOLUTE)
        list(APPEND arguments ${path})
        if(IS_DIRECTORY ${path})
            file(GLOB path CONFIGURE_DEPENDS ${path}/msg/*.msg ${path}/srv/*.srv ${path}/action/*.action)
        endif()
        list(APPEND definitions ${path})
    endforeach()
    set(searched)
    foreach(folder IN LISTS argument_SEARCH)
        get_filename_component(folder ${folder} ABSOLUTE)
        list(APPEND arguments --search=${folder})
        file(GLOB found ${folder}/*/msg/*.msg ${folder}/*/srv/*.srv ${folder}/*/action/*.action)
        list(APPEND searched ${found})
    endforeach()
    set(headers)
    foreach(definition IN LISTS definitions)
        sinew_header_path(${definition} header)
        list(APPEND headers ${directory}/${header})
    endforeach()
    # Headers that would be the same are left alone, so a file stands for the time of the last run.
    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${name}.stamp)
    add_custom_command(OUTPUT ${stamp} BYPRODUCTS ${headers}
        COMMAND sinew::generate_cpp --out=${directory} ${arguments}
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ${definitions} ${searched} $<TARGET_FILE:sinew::generate_cpp>
        COMMENT "Generating the messages of ${name}"
        VERBATIM)
    add_custom_target(${name}_headers DEPENDS ${stamp})
endfunction()

# sinew_header_path(DEFINITION VARIABLE): the path by which the header of a definition is included:
# std_msgs/msg/u_int8_multi_array.hpp for ../std_msgs/msg/UInt8MultiArray.msg. As `names.rs` has it.
function(sinew_header_path definition variable)
    get_filename_component(kind ${definition} DIRECTORY)
    get_filename_component(package ${kind} DIRECTORY)
    get_filename_component(kind ${kind} NAME)
    get_filename_component(package ${package} NAME)
    get_filename_component(base ${definition} NAME_WE)
    string(REGEX REPLACE "(.)([A-Z][a-z]+)" "\\1_\\2" base ${base})
    string(REGEX REPLACE "([a-z0-9])([A-Z])" "\\1_\\2" base ${base})
    string(TOLOWER ${base} base)
    set(${variable} ${package}/${kind}/${base}.hpp PARENT_SCOPE)
endfunction()

# sinew_precompile_rclcpp(TARGET..): compiles rclcpp/rclcpp.hpp once for all targets of this directory that
# are named here and link sinew::rclcpp. Without it, each source compiles the header. All of them have the
# same options and definitions of the compiler, also whether they are position-independent.
function(sinew_precompile_rclcpp)
    foreach(target IN LISTS ARGN)
        get_property(first DIRECTORY PROPERTY SINEW_PRECOMPILED)
        if(first)
            target_precompile_headers(${target} REUSE_FROM ${first})
        else()
            target_precompile_headers(${target} PRIVATE <rclcpp/rclcpp.hpp>)
            set_property(DIRECTORY PROPERTY SINEW_PRECOMPILED ${target})
        endif()
    endforeach()
endfunction()
