# Programs that must not compile, and must say why at once: several to a file, by topic.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D FILE=<file.cpp> [-D FIXED=ON]
#           [-D FIRST=<header that is included first>] -P run.cmake
#
# A case lasts from its first line to the next case:
#
#     // case: <name>
#     // What is wrong with it.
#     // expect: <regex>              one or more such lines
#     namespace <name> {
#     ...
#
# All cases of a file are compiled at once, which must fail. The first error that the compiler prints about a case must
# match: a user reads that line and no other. Every error must be about a case. A template says what is wrong with its
# arguments once, however many cases give it the same types: each case gives it types that no other case has. A case
# after which the compiler gives up is a file by itself.
# With FIXED the file, which may include others, is compiled with -DFIXED, as the control that nothing else is wrong with any
# case, which must succeed.
cmake_policy(VERSION 3.22)
set(ENV{LC_ALL} C)  # error messages in English
if(DEFINED FIRST)
    list(APPEND FLAGS -include ${FIRST})
endif()
if(FIXED)
    list(APPEND FLAGS -DFIXED)
endif()
execute_process(COMMAND ${CXX} --version OUTPUT_VARIABLE version)
set(is_clang OFF)
if(version MATCHES "clang version")
    set(is_clang ON)
    list(APPEND FLAGS -ferror-limit=0)
endif()
execute_process(COMMAND ${CXX} ${FLAGS} -I${INCLUDE} -fsyntax-only ${FILE}
                RESULT_VARIABLE status OUTPUT_VARIABLE log ERROR_VARIABLE log)
get_filename_component(topic ${FILE} NAME)
if(FIXED)
    if(NOT status EQUAL 0)
        message(NOTICE "${log}")
        message(FATAL_ERROR "${topic} does not compile with -DFIXED: a case is wrong about more than it says")
    endif()
    return()
endif()

# The cases, and the number of lines before each.
file(READ ${FILE} text)
string(REGEX MATCHALL "// case: [^\n]+" cases "${text}")
list(TRANSFORM cases REPLACE "// case: " "")
if(NOT cases)
    message(FATAL_ERROR "${topic} has no line `// case: <name>`")
endif()
foreach(case IN LISTS cases)
    string(FIND "${text}" "// case: ${case}\n" length)
    string(SUBSTRING "${text}" 0 ${length} before)
    string(REGEX REPLACE "[^\n]+" "" before "${before}")
    string(LENGTH "${before}" before_${case})
endforeach()

# case_at(line result): the case that has the line of the file.
function(case_at line result)
    set(found "")
    foreach(case IN LISTS cases)
        if(line GREATER before_${case})
            set(found ${case})
        endif()
    endforeach()
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

set(faults "")
set(count 0)
function(fault text)
    set(faults "${faults}${text}\n" PARENT_SCOPE)
    math(EXPR count "${count} + 1")
    set(count ${count} PARENT_SCOPE)
endfunction()

# The first error about each case. Of an error that is elsewhere, in a header, the compiler says which line of the file has
# led there, unless it is the same as for the error before: g++ before the error, clang in the notes after it.
set(last "")   # what the latest error is about
set(error "")  # clang: the latest error, until a note says what it is about
macro(record case)
    set(last "${case}")
    if(last STREQUAL "")
        fault("an error is about no case\n  printed:  ${error}")
    elseif(NOT DEFINED first_${last})
        set(first_${last} "${error}")
    endif()
    set(error "")
endmacro()
macro(record_unless_said)
    if(error)
        record("${last}")
    endif()
endmacro()
string(REPLACE "${FILE}:" "FILE:" lines "${log}\n")
while(lines MATCHES "\n")
    string(FIND "${lines}" "\n" length)
    string(SUBSTRING "${lines}" 0 ${length} line)
    math(EXPR length "${length} + 1")
    string(SUBSTRING "${lines}" ${length} -1 lines)
    set(case "")
    if(line MATCHES "(^|from )FILE:([0-9]+)")
        case_at(${CMAKE_MATCH_2} case)
    endif()
    if(line MATCHES "error: ")
        record_unless_said()
        set(error "${line}")
        if(case)
            record(${case})
        elseif(NOT is_clang)
            record("${last}")
        endif()
    elseif(line MATCHES "^FILE:.*required from" OR (case AND line MATCHES "from FILE:"))
        record_unless_said()
        set(last "${case}")
    elseif(case AND error)
        record(${case})
    endif()
endwhile()
record_unless_said()

foreach(case IN LISTS cases)
    string(REGEX MATCH "// case: ${case}\n((//[^\n]*\n)+)" block "${text}")
    string(REGEX MATCHALL "// expect: [^\n]+" expected "${block}")
    if(NOT expected)
        fault("${case} has no line `// expect: <regex>`")
    elseif(NOT DEFINED first_${case})
        fault("${case} compiles, but must not, or is wrong about the types of an earlier case")
    endif()
    foreach(regex IN LISTS expected)
        string(REPLACE "// expect: " "" regex "${regex}")
        if(DEFINED first_${case} AND NOT first_${case} MATCHES "${regex}")
            fault("${case}: the first error does not match\n  expected: ${regex}\n  printed:  ${first_${case}}")
        endif()
    endforeach()
endforeach()
if(faults)
    message(NOTICE "${log}\n${faults}")
    message(FATAL_ERROR "${topic} has the ${count} faults above")
endif()
