# The parts of the library are floors: a header includes lower floors and its own folder, nothing else.
#
#     cmake -D INCLUDE=<directory of specsample/> -P floors.cmake
cmake_policy(VERSION 3.22)

# Neighbours on a floor do not know each other. `specsample` is the umbrella: above every part, and beside `testing`.
set(floors "core" "kernels" "rows" "models" "random" "shaping tree theory" "verify drafters length"
           "sampler compiled_values" "lossy beam metrics vocabularies shard compiled" "testing specsample values" "sampler_values")

set(height 0)
foreach(floor IN LISTS floors)
    string(REPLACE " " ";" parts ${floor})
    foreach(part IN LISTS parts)
        set(floor_of_${part} ${height})
    endforeach()
    math(EXPR height "${height} + 1")
endforeach()

# part_of(header variable): the first word of the path; concepts.hpp belongs to models.
function(part_of header variable)
    string(REGEX MATCH "^[a-z_]+" part ${header})
    string(REPLACE concepts models part ${part})
    set(${variable} ${part} PARENT_SCOPE)
endfunction()

set(offences 0)
macro(offence text)
    message(NOTICE "${text}")
    math(EXPR offences "${offences} + 1")
endmacro()

set(root ${INCLUDE}/specsample)
file(GLOB_RECURSE headers RELATIVE ${root} ${root}/*.hpp)
if(NOT headers)
    message(FATAL_ERROR "no header below ${INCLUDE}/specsample")
endif()
foreach(header IN LISTS headers)
    part_of(${header} part)
    if(NOT DEFINED floor_of_${part})
        offence("${header} (no floor): add `${part}` to floors.cmake")
        continue()
    endif()
    set(floor ${floor_of_${part}})
    set(previous core.hpp)
    set(previous_floor 0)

    file(STRINGS ${root}/${header} lines REGEX "^ *# *include +(<specsample/|\")")
    foreach(line IN LISTS lines)
        if(NOT line MATCHES "<specsample/([^>]+)>")
            string(REGEX MATCH "\".*\"" name "${line}")
            offence("${header} includes ${name} in quotes: its floor cannot be read")
            continue()
        endif()
        set(included ${CMAKE_MATCH_1})
        part_of(${included} included_part)
        set(included_floor ${floor_of_${included_part}})
        if(NOT included_part STREQUAL part AND NOT included_floor LESS floor)
            offence("${header} (floor ${floor}) includes ${included} (floor ${included_floor})")
        elseif(part STREQUAL specsample AND included_floor LESS previous_floor)
            offence("${header} lists ${included} (floor ${included_floor}) after ${previous} (floor ${previous_floor})")
        endif()
        set(previous ${included})
        set(previous_floor ${included_floor})
    endforeach()
endforeach()

if(offences)
    message(FATAL_ERROR "${offences} offences against the floors")
endif()
