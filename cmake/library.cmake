# sinew::sinew, the shared library, and sinew::sinew_static. Cargo builds the static one; the C linker
# makes the shared one of it, with a soname and versioned symbols, which rustc's own cannot have.

find_program(SINEW_CARGO cargo HINTS $ENV{CARGO_HOME} $ENV{HOME}/.cargo PATH_SUFFIXES bin DOC "Rust's cargo")
if(NOT SINEW_CARGO)
    message(FATAL_ERROR "Sinew needs Rust: there is no cargo in PATH. Install it (https://rustup.rs), or set SINEW_CARGO to its path")
endif()

if(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "Sinew is built for this machine only: cargo would make a library for it, whatever ${CMAKE_SYSTEM_PROCESSOR} is. "
        "Build it on a machine of that kind, or under an emulator")
endif()

# The configuration Debug is cargo's profile `dev`; all others are `c`, which is for this library alone.
set(sinew_archive ${SINEW_CARGO_TARGET_DIR}/$<IF:$<CONFIG:Debug>,debug,c>/libsinew_c.a)
set(sinew_header_directory ${PROJECT_SOURCE_DIR}/crates/sinew-c/include)
set(sinew_symbols ${PROJECT_SOURCE_DIR}/cmake/sinew.map)

# Cargo knows whether there is anything to do, so it is asked at each build.
add_custom_target(sinew_cargo
    COMMAND ${SINEW_CARGO} rustc --package sinew-c --lib --crate-type staticlib
        --profile $<IF:$<CONFIG:Debug>,dev,c>
        --manifest-path ${PROJECT_SOURCE_DIR}/Cargo.toml --target-dir ${SINEW_CARGO_TARGET_DIR}
        --locked $<$<BOOL:${SINEW_OFFLINE}>:--offline>
    BYPRODUCTS ${sinew_archive}
    COMMENT "Building Sinew with cargo"
    COMMAND_EXPAND_LISTS USES_TERMINAL VERBATIM)

# What programs with the static library link as well: `rustc --print native-static-libs`.
set(sinew_system_libraries Threads::Threads gcc_s util rt m dl)

# Packed relocations are 2 % of the library. The linker must write them, and the C library read them: glibc
# from 2.36 on.
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
check_c_source_compiles("#include <features.h>
#if !__GLIBC_PREREQ(2, 36)
#error
#endif
int main(void) {return 0;}" sinew_reads_packed_relocations)
check_linker_flag(C LINKER:-z,pack-relative-relocs sinew_writes_packed_relocations)
if(sinew_reads_packed_relocations AND sinew_writes_packed_relocations)
    set(sinew_packs_relocations TRUE)
endif()

# Before 1.0 the second number counts changes that break programs, so it is part of the soname.
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(sinew_soversion 0.${PROJECT_VERSION_MINOR})
else()
    set(sinew_soversion ${PROJECT_VERSION_MAJOR})
endif()
add_library(sinew SHARED ${PROJECT_SOURCE_DIR}/cmake/shared.c)
add_library(sinew::sinew ALIAS sinew)
add_dependencies(sinew sinew_cargo)
set_target_properties(sinew PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${sinew_soversion}
    LINK_DEPENDS "${sinew_archive};${sinew_symbols}")
target_include_directories(sinew PUBLIC
    $<BUILD_INTERFACE:${sinew_header_directory}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(sinew PRIVATE
    -Wl,--whole-archive ${sinew_archive} -Wl,--no-whole-archive ${sinew_system_libraries})
target_link_options(sinew PRIVATE
    LINKER:--version-script=${sinew_symbols}
    LINKER:--no-undefined
    LINKER:--gc-sections # what no exported function reaches
    $<$<NOT:$<CONFIG:Debug>>:LINKER:--strip-debug> # that of Rust's standard library
    $<$<BOOL:${sinew_packs_relocations}>:LINKER:-z,pack-relative-relocs>)

add_library(sinew_static INTERFACE)
add_library(sinew::sinew_static ALIAS sinew_static)
add_dependencies(sinew_static sinew_cargo)
target_include_directories(sinew_static INTERFACE
    $<BUILD_INTERFACE:${sinew_header_directory}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(sinew_static INTERFACE
    $<BUILD_INTERFACE:${sinew_archive}>
    $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/libsinew.a>
    ${sinew_system_libraries})
