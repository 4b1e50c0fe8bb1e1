# One named bug: apply it to a copy of the headers, compile the proof against them, and see whether it notices.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D SCRATCH=<directory>
#           [-D BUGS=<file> -D BUG=<name>] -P run.cmake
#
# The proof has parts (proof/*.cpp). Each exits with 0 when every distribution holds and with 3 when it saw one violated.
# A bug is caught by that 3 and by nothing else: a mutant that does not compile, crashes or hangs proves nothing. Without
# BUG the headers are taken as they are, and every part must exit with 0.
#
# A bug in BUGS is a block
#     bug: name
#     why: what is wrong, in one line
#     in:  header, relative to specsample/
#     by:  the part of the proof that catches it
#     - old text: it must occur in the header exactly once, within a line or over several such lines
#     + new text: likewise, or no such line at all
cmake_policy(VERSION 3.22)

file(REMOVE_RECURSE ${SCRATCH})
file(COPY ${INCLUDE}/ DESTINATION ${SCRATCH}/include)

set(parts token ratio match rows parts)
if(DEFINED BUG)
    file(READ ${BUGS} text)
    string(REGEX MATCH "(^|\n)bug: ${BUG}\nwhy: ([^\n]*)\nin:  ([^\n]*)\nby:  ([^\n]*)((\n- [^\n]*)+)((\n\\+ [^\n]*)*)\n"
           block "${text}")
    if(NOT block)
        message(FATAL_ERROR "${BUG}: not a well-formed block of ${BUGS}")
    endif()
    set(why "${CMAKE_MATCH_2}")
    set(header ${SCRATCH}/include/specsample/${CMAKE_MATCH_3})
    set(parts ${CMAKE_MATCH_4})
    string(REPLACE "\n- " "\n" old "${CMAKE_MATCH_5}")
    string(REPLACE "\n+ " "\n" new "${CMAKE_MATCH_7}")
    string(REGEX REPLACE "^\n" "" old "${old}")
    string(REGEX REPLACE "^\n" "" new "${new}")

    file(READ ${header} text)
    string(FIND "${text}" "${old}" first)
    string(FIND "${text}" "${old}" last REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL last)
        message(FATAL_ERROR "${BUG}: no longer applies: its old text does not occur exactly once in the header")
    endif()
    string(REPLACE "${old}" "${new}" text "${text}")
    file(WRITE ${header} "${text}")
endif()

foreach(part IN LISTS parts)
    execute_process(COMMAND ${CXX} -I${SCRATCH}/include -I${CMAKE_CURRENT_LIST_DIR}/.. ${FLAGS} -Og
                            ${CMAKE_CURRENT_LIST_DIR}/proof/${part}.cpp -o ${SCRATCH}/${part}
                    RESULT_VARIABLE status ERROR_VARIABLE log)
    if(NOT status EQUAL 0)
        message(NOTICE "${log}")
        message(FATAL_ERROR "BROKEN: the proof does not compile")
    endif()
    execute_process(COMMAND ${SCRATCH}/${part} RESULT_VARIABLE status OUTPUT_VARIABLE log ERROR_VARIABLE log)

    if(status EQUAL 3 AND DEFINED BUG)
        string(REGEX MATCH "DISTRIBUTION VIOLATED[^\n]*" violation "${log}")
        message(STATUS "caught: ${BUG}: ${violation}")
    elseif(status EQUAL 0 AND NOT DEFINED BUG)
        message(STATUS "${part}: every distribution holds")
    else()
        message(NOTICE "${log}")
        if(status EQUAL 0)
            message(FATAL_ERROR "${BUG}: SURVIVED: ${why}")
        endif()
        message(FATAL_ERROR "BROKEN: the proof ended with ${status}")
    endif()
endforeach()
