# A header stays short, and leaves out the standard headers that cost more than Eigen leaves to spend.
#
#     cmake -D INCLUDE=<directory of specsample/> -D MAX_LINES=<n> -P budgets.cmake
cmake_policy(VERSION 3.22)

set(offences 0)
file(GLOB_RECURSE headers RELATIVE ${INCLUDE}/specsample ${INCLUDE}/specsample/*.hpp)
if(NOT headers)
    message(FATAL_ERROR "no header below ${INCLUDE}/specsample")
endif()
foreach(header IN LISTS headers)
    file(READ ${INCLUDE}/specsample/${header} text)
    string(REGEX REPLACE "[^\n]" "" lines "${text}")
    string(LENGTH "${lines}" lines)
    if(lines GREATER MAX_LINES)
        message(NOTICE "${header} has ${lines} lines, but at most ${MAX_LINES} are allowed")
        math(EXPR offences "${offences} + 1")
    endif()
    # A rank that waits for other threads does so for a time. No other header names a time, and few programs include it.
    if(header STREQUAL "shard/threads.hpp")
        string(REPLACE "#include <chrono>\n" "" text "${text}")
    endif()
    if(NOT header MATCHES "^testing/" AND text MATCHES "# *include +(<(random|ranges|chrono|iostream|regex|thread)>)")
        message(NOTICE "${header} includes ${CMAKE_MATCH_1}")
        math(EXPR offences "${offences} + 1")
    endif()
endforeach()

if(offences)
    message(FATAL_ERROR "${offences} offences against the budgets")
endif()
