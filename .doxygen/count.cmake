# How many public names each namespace has, at most MAX_NAMES of them in specsample itself.
#
#     cmake -D REFERENCE=<OUTPUT of reference.cmake> -D MAX_NAMES=<n> -P count.cmake
cmake_policy(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/names.cmake)
public_names(${REFERENCE}/xml names undocumented)
if(NOT names)
    message(FATAL_ERROR "no public name in ${REFERENCE}/xml")
endif()

# spaces: the namespaces met; in_<namespace>: the names in it.
set(spaces "")
foreach(name IN LISTS names)
    if(name MATCHES "^(.+)::[^:]+$")
        list(APPEND spaces ${CMAKE_MATCH_1})
        list(APPEND in_${CMAKE_MATCH_1} ${name})
    endif()
endforeach()
list(REMOVE_DUPLICATES spaces)
foreach(space IN LISTS spaces)
    # A namespace inside is no name of this one.
    list(REMOVE_ITEM in_${space} ${spaces})
    list(LENGTH in_${space} count)
    message(STATUS "${space}: ${count} names")
endforeach()

list(LENGTH in_specsample count)
if(count GREATER MAX_NAMES)
    message(FATAL_ERROR "specsample has ${count} names, but at most ${MAX_NAMES} are allowed")
endif()
