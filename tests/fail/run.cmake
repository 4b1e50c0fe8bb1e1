# Programs that must not compile, and must say why at once: several to a file, by topic.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D FILE=<file.cpp> [-D CASE=<name>]
#           [-D FIRST=<header that is included first>] -P run.cmake
#
# A case is a block of a file:
#
#     // case: <name>
#     // What is wrong with it.
#     // expect: <regex>              one or more such lines
#     #if defined FIXED || defined CASE_<name>
#     ...
#     #endif
#
# It is compiled with -DCASE_<name>, which must fail, and the first error that the compiler prints must match: a user
# reads that line and no other. Without CASE the whole file is compiled with -DFIXED, as the control that nothing else is
# wrong with any case of it, which must succeed.
cmake_policy(VERSION 3.22)
set(ENV{LC_ALL} C)  # error messages in English
if(DEFINED FIRST)
    list(APPEND FLAGS -include ${FIRST})
endif()

# compile(succeeds output [flags...])
function(compile succeeds output)
    execute_process(COMMAND ${CXX} ${FLAGS} -I${INCLUDE} -fsyntax-only ${ARGN} ${FILE}
                    RESULT_VARIABLE status OUTPUT_VARIABLE log ERROR_VARIABLE log)
    string(COMPARE EQUAL "${status}" 0 status)
    set(${succeeds} ${status} PARENT_SCOPE)
    set(${output} "${log}" PARENT_SCOPE)
endfunction()

if(NOT DEFINED CASE)
    compile(compiles log -DFIXED)
    if(NOT compiles)
        message(NOTICE "${log}")
        message(FATAL_ERROR "${FILE} does not compile with -DFIXED: a case is wrong about more than it says")
    endif()
    return()
endif()

file(READ ${FILE} text)
string(REGEX MATCH "// case: ${CASE}\n((//[^\n]*\n)+)#if defined FIXED \\|\\| defined CASE_${CASE}\n" block "${text}")
string(REGEX MATCHALL "// expect: [^\n]+" expected "${block}")
if(NOT expected)
    message(FATAL_ERROR "${FILE} has no block of ${CASE} with a line `// expect: <regex>`")
endif()

compile(compiles log -DCASE_${CASE} -Wfatal-errors)  # the first error says it all
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
