# Programs that users copy need public names alone: no example mentions a namespace detail, nor does what it includes.
#
#     cmake -D PROGRAMS=<list of directories of .cpp and .hpp files> -P public_names.cmake
cmake_policy(VERSION 3.22)

set(offences 0)
foreach(folder IN LISTS PROGRAMS)
    file(GLOB_RECURSE programs RELATIVE ${folder} ${folder}/*.cpp ${folder}/*.hpp)
    if(NOT programs)
        message(FATAL_ERROR "no program in ${folder}")
    endif()
    foreach(program IN LISTS programs)
        file(STRINGS ${folder}/${program} lines REGEX "(^|[^A-Za-z_])detail($|[^A-Za-z_])")
        foreach(line IN LISTS lines)
            message(NOTICE "${program} needs what is not public: ${line}")
            math(EXPR offences "${offences} + 1")
        endforeach()
    endforeach()
endforeach()
if(offences)
    message(FATAL_ERROR "${offences} lines of programs name a detail")
endif()
