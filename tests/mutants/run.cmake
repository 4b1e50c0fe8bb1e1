# Run the proof with one named bug, and see whether it notices:
#
#     cmake -D PROOF=<program> -D BUGS=<file> -D BUG=<name> [-D PATIENCE=<seconds>] -P run.cmake
#
# The proof is a Catch2 program over headers with every bug behind a guard (guard.cmake). A bug is caught by a check
# that fails and by nothing else: a mutant that crashes or hangs proves nothing. Without BUG every test must pass.
cmake_policy(VERSION 3.22)

set(BUG ${BUG})
set(tests "")
if(BUG)
    file(READ ${BUGS} text)
    string(REGEX MATCH "(^|\n)bug: ${BUG}\nwhy: ([^\n]*)\nin:  [^\n]*\nby:  ([^\n]*)" block "${text}")
    set(why "${CMAKE_MATCH_2}")
    set(tests "${CMAKE_MATCH_3}")
    if(NOT tests MATCHES "^\\[")
        string(REPLACE "," "\\," tests "${tests}")  # in a name, and not between two
    endif()
    set(ENV{SPECSAMPLE_MUTANT} ${BUG})
endif()
if(NOT DEFINED PATIENCE)
    set(PATIENCE 120)
endif()

execute_process(COMMAND ${PROOF} ${tests} --abort TIMEOUT ${PATIENCE}
                RESULT_VARIABLE status OUTPUT_VARIABLE log ERROR_VARIABLE log)
if(status MATCHES "^[0-9]+$" AND NOT status EQUAL 0 AND BUG AND log MATCHES "\nassertions: [^\n]*failed")
    message(STATUS "caught: ${BUG}: ${why}")
elseif(status EQUAL 0 AND log MATCHES "All tests passed")
    if(BUG)
        message(FATAL_ERROR "${BUG}: SURVIVED: ${why}")
    endif()
    message(STATUS "every test passes")
else()
    message(NOTICE "${log}")
    message(FATAL_ERROR "BROKEN: the proof ended with ${status}")
endif()
