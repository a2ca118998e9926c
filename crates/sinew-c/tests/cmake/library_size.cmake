# Fails if the shared library without its symbols is larger than it may be:
#
#     cmake -DLIBRARY=FILE -DSTRIP=PROGRAM -DMOST=BYTES -P library_size.cmake
set(stripped ${LIBRARY}.stripped)
execute_process(COMMAND ${STRIP} -o ${stripped} ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${stripped} size)
file(REMOVE ${stripped})
message("${LIBRARY} has ${size} bytes without its symbols")
if(size GREATER MOST)
    message(FATAL_ERROR "that is more than the ${MOST} that it may have: look for what is in it twice "
        "(`nm --size-sort -S --demangle`), or for a dependency that it can do without")
endif()
