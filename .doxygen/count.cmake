# How many public names each namespace has, at most MAX_NAMES of them in specsample itself.
#
#     cmake -D REFERENCE=<OUTPUT of reference.cmake> -D MAX_NAMES=<n> -P count.cmake
cmake_policy(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/names.cmake)
public_names(${REFERENCE}/xml names undocumented)
if(NOT names)
    message(FATAL_ERROR "no public name in ${REFERENCE}/xml")
endif()

# spaces: all namespaces, which are not names of those around them; in_<namespace>: the names in it.
file(GLOB spaces RELATIVE ${REFERENCE}/xml ${REFERENCE}/xml/namespacespecsample*.xml)
list(TRANSFORM spaces REPLACE "^namespace(.+)\\.xml$" "\\1")
list(TRANSFORM spaces REPLACE "_1_1" "::")
list(TRANSFORM spaces REPLACE "__" "_")  # as Doxygen spells it
list(REMOVE_ITEM names ${spaces})
foreach(name IN LISTS names)
    string(REGEX REPLACE "::[^:]+$" "" space ${name})
    list(APPEND in_${space} ${name})
endforeach()
foreach(space IN LISTS spaces)
    list(LENGTH in_${space} count)
    if(count)
        message(STATUS "${space}: ${count} names")
    endif()
endforeach()

list(LENGTH in_specsample count)
if(count GREATER MAX_NAMES)
    message(FATAL_ERROR "specsample has ${count} names, but at most ${MAX_NAMES} are allowed")
endif()
