# Each header of one part compiles alone: it includes all that it needs.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D PART=<header or folder/>
#           -D SCRATCH=<directory> [-D WARNINGS=<list>] [-D FIRST=<precompiled core/eigen.hpp, less its .gch>] -P alone.cmake
#
# A header that reaches core/eigen.hpp by its #include lines sees all of it in any case, so that it is parsed once for
# all of these; the others get nothing. No code is generated. Eigen is a system library: its pragmas against warnings
# are lost where it is precompiled.
cmake_policy(VERSION 3.22)

# reaches_eigen(header result)
function(reaches_eigen header result)
    get_property(known GLOBAL PROPERTY reaches_${header})
    if(NOT DEFINED known)
        set(known NO)
        set(lines "")
        if(EXISTS ${INCLUDE}/${header})  # otherwise the compiler will say so
            file(STRINGS ${INCLUDE}/${header} lines REGEX "^ *# *include +<specsample/")
        endif()
        foreach(line IN LISTS lines)
            string(REGEX REPLACE ".*<(.*)>.*" "\\1" included "${line}")
            reaches_eigen(${included} reached)
            if(reached)
                set(known YES)
                break()
            endif()
        endforeach()
        set_property(GLOBAL PROPERTY reaches_${header} ${known})
    endif()
    set(${result} ${known} PARENT_SCOPE)
endfunction()
set_property(GLOBAL PROPERTY reaches_specsample/core/eigen.hpp YES)
list(TRANSFORM FLAGS REPLACE "^-I" "-isystem")
list(TRANSFORM FLAGS REPLACE "^-I" "-isystem")

set(offences 0)
file(GLOB headers RELATIVE ${INCLUDE} ${INCLUDE}/specsample/${PART}*.hpp)
if(NOT headers)
    message(FATAL_ERROR "no header in ${INCLUDE}/specsample/${PART}")
endif()
file(MAKE_DIRECTORY ${SCRATCH})
foreach(header IN LISTS headers)
    set(first "")
    reaches_eigen(${header} reaches)
    if(reaches AND DEFINED FIRST AND NOT header STREQUAL "specsample/core/eigen.hpp")
        set(first -include ${FIRST})
    endif()
    file(WRITE ${SCRATCH}/alone.cpp "#include <${header}>\n")
    execute_process(COMMAND ${CXX} ${FLAGS} ${WARNINGS} -I${INCLUDE} ${first} -fsyntax-only ${SCRATCH}/alone.cpp
                    RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(NOTICE "${header} does not compile alone")
        math(EXPR offences "${offences} + 1")
    endif()
endforeach()
if(offences)
    message(FATAL_ERROR "${offences} headers do not compile alone")
endif()
list(LENGTH headers count)
message(STATUS "${count} headers compile alone")
