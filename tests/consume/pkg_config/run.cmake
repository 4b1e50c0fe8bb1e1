# A build without CMake finds the installed library by pkg-config, also where the prefix was moved to: the headers, and
# what was compiled, for C++ and for C.
#
#     cmake -D PKG_CONFIG=<program> -D INSTALLED=<prefix> -D CXX=<compiler> -D FLAGS=<list> -D MAIN=<a program of headers>
#           -D VALUES=<one of values> -D C=<one of C> -D CC=<its compiler> -D SCRATCH=<directory> -P run.cmake
file(REMOVE_RECURSE ${SCRATCH})
file(COPY ${INSTALLED}/ DESTINATION ${SCRATCH}/moved)
file(WRITE ${SCRATCH}/eigen3.pc "Name: eigen3\nDescription: that of these tests\nVersion: 3.4\nCflags:\n")
set(ENV{PKG_CONFIG_PATH} ${SCRATCH}:${SCRATCH}/moved/share/pkgconfig:${SCRATCH}/moved/lib/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --cflags specsample OUTPUT_VARIABLE cflags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(cflags UNIX_COMMAND "${cflags}")
if(NOT cflags MATCHES "moved.*include")
    message(FATAL_ERROR "pkg-config names ${cflags}, but must name the include folder of ${SCRATCH}/moved")
endif()
execute_process(COMMAND ${CXX} ${FLAGS} ${cflags} ${MAIN} -o ${SCRATCH}/consumer COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${SCRATCH}/consumer COMMAND_ERROR_IS_FATAL ANY)

# build(package program compiler flags...): what pkg-config says of a package is enough to build and run a program.
function(build package program compiler)
    execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ${package} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    execute_process(COMMAND ${compiler} ${ARGN} ${program} ${flags} -o ${SCRATCH}/${package} COMMAND_ERROR_IS_FATAL ANY)
    set(ENV{LD_LIBRARY_PATH} ${SCRATCH}/moved/lib)
    execute_process(COMMAND ${SCRATCH}/${package} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS "${package}: ${printed}")
    if(NOT printed MATCHES "12 8 . 12 9 1 12 6")
        message(FATAL_ERROR "${package}: the loop of an engine printed\n${printed}")
    endif()
endfunction()
if(VALUES)
    build(specsample-compiled ${VALUES} ${CXX} ${FLAGS})
    build(specsample-c ${C} ${CC})
endif()
