# Programs that users copy need public names alone: no example mentions a namespace detail.
#
#     cmake -D EXAMPLES=<directory of .cpp files> -P public_names.cmake
cmake_policy(VERSION 3.22)

file(GLOB programs ${EXAMPLES}/*.cpp)
if(NOT programs)
    message(FATAL_ERROR "no program in ${EXAMPLES}")
endif()
set(offences 0)
foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME)
    file(STRINGS ${program} lines REGEX "(^|[^A-Za-z_])detail($|[^A-Za-z_])")
    foreach(line IN LISTS lines)
        message(NOTICE "${name} needs what is not public: ${line}")
        math(EXPR offences "${offences} + 1")
    endforeach()
endforeach()
if(offences)
    message(FATAL_ERROR "${offences} lines of examples name a detail")
endif()
