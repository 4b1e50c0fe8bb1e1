# Runs every n-th test of a Catch2 program in one process.
#
#     cmake -D PROGRAM=<program> -D LIST=<the options that list its tests> -D PART=<1..n> -D PARTS=<n>
#           -D NAMES=<file to write> -P catch_part.cmake
cmake_policy(VERSION 3.22)
execute_process(COMMAND ${PROGRAM} ${LIST} OUTPUT_VARIABLE names)  # version 2 returns the number of tests
string(REGEX MATCHALL "[^\n]+" names "${names}")
set(mine "")
set(count 0)
set(turn 0)
foreach(name IN LISTS names)
    math(EXPR turn "${turn} % ${PARTS} + 1")
    if(turn EQUAL PART)
        string(REPLACE "," "\\," name "${name}")  # a comma is between two filters
        string(APPEND mine "${name}\n")
        math(EXPR count "${count} + 1")
    endif()
endforeach()
if(count EQUAL 0)  # fewer tests than parts; that a program lists none is seen by build.<name>_lists
    return()
endif()
file(WRITE ${NAMES} "${mine}")
execute_process(COMMAND ${PROGRAM} --input-file ${NAMES} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE result
                ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} returned ${result}")
endif()
# A name that the runner does not find again is no error to it.
if(NOT output MATCHES "in ${count} test case")
    message(FATAL_ERROR "${count} tests were to run")
endif()
