# A program that must not compile, and must say why at once.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D CASE=<file.cpp>
#           [-D FIRST=<header that is included first>] -P run.cmake
#
# A case is a source file with one or more lines `// expect: <regex>`. It is compiled as it stands, which must fail, and
# the first error that the compiler prints must match: a user reads that line and no other. Then, as the control that
# nothing else is wrong with it, it is compiled with -DFIXED, which must succeed.
cmake_policy(VERSION 3.22)
set(ENV{LC_ALL} C)  # error messages in English
if(DEFINED FIRST)
    list(APPEND FLAGS -include ${FIRST})
endif()

# compile(succeeds output [flags...])
function(compile succeeds output)
    execute_process(COMMAND ${CXX} ${FLAGS} -I${INCLUDE} -fsyntax-only ${ARGN} ${CASE}
                    RESULT_VARIABLE status OUTPUT_VARIABLE log ERROR_VARIABLE log)
    string(COMPARE EQUAL "${status}" 0 status)
    set(${succeeds} ${status} PARENT_SCOPE)
    set(${output} "${log}" PARENT_SCOPE)
endfunction()

file(READ ${CASE} text)
string(REGEX MATCHALL "// expect: [^\n]+" expected "${text}")
if(NOT expected)
    message(FATAL_ERROR "${CASE} has no line `// expect: <regex>`")
endif()

compile(compiles log)
if(compiles)
    message(FATAL_ERROR "${CASE} compiles, but must not")
endif()
string(REGEX MATCH "[^\n]*error:[^\n]*" first "${log}")
foreach(line IN LISTS expected)
    string(REPLACE "// expect: " "" regex "${line}")
    if(NOT first MATCHES "${regex}")
        message(NOTICE "${log}")
        message(FATAL_ERROR "the first error does not match\n  expected: ${regex}\n  printed:  ${first}")
    endif()
endforeach()

compile(compiles log -DFIXED)
if(NOT compiles)
    message(NOTICE "${log}")
    message(FATAL_ERROR "${CASE} does not compile with -DFIXED: the case is wrong about more than it says")
endif()
