# The API reference of include/: HTML and XML in OUTPUT. Fails at a wrong tag or link, and names each public name that
# has no documentation.
#
#     cmake -D DOXYGEN=<program> -D INCLUDE=<directory of specsample/> -D EXAMPLES=<directory> -D OUTPUT=<directory>
#           [-D VERSION=<x.y.z>] -P reference.cmake
cmake_policy(VERSION 3.22)

set(PAGES ${CMAKE_CURRENT_LIST_DIR})
file(REMOVE_RECURSE ${OUTPUT})

# Each example is a page, and each name that it uses links there. Its first line says what it shows.
set(examples "")
file(GLOB programs ${EXAMPLES}/*.cpp)
foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME)
    file(STRINGS ${program} title LIMIT_COUNT 1)
    string(REGEX REPLACE "^// " "" title "${title}")
    string(APPEND examples "/** @example ${name}\n${title} */\n")
endforeach()
file(WRITE ${OUTPUT}/examples.dox "${examples}")

# headers.md is to be read as it lies, too: its links to headers, and the names in its tables, become Doxygen's.
file(READ ${PAGES}/headers.md headers)
string(REGEX REPLACE "^# [^\n]+" "\\0 {#headers}" headers "${headers}")
string(REGEX REPLACE "\\[[^]]+\\]\\(\\.\\./include/(specsample/[^)]+)\\)" "@ref \\1" headers "${headers}")
string(REGEX REPLACE "`([A-Za-z_:]+)`" "@ref specsample::\\1 \"\\1\"" headers "${headers}")
file(WRITE ${OUTPUT}/headers.md "${headers}")

include(${PAGES}/rules.cmake)
rule_page(${INCLUDE}/specsample ${OUTPUT}/rules.md)

configure_file(${PAGES}/Doxyfile.in ${OUTPUT}/Doxyfile @ONLY)
execute_process(COMMAND ${DOXYGEN} ${OUTPUT}/Doxyfile RESULT_VARIABLE faults)

# A name is documented where any of its overloads is: deduction guides go by the documentation of their class.
include(${PAGES}/names.cmake)
public_names(${OUTPUT}/xml names undocumented)
if(NOT names)
    message(FATAL_ERROR "no public name below ${INCLUDE}/specsample")
endif()
foreach(name IN LISTS undocumented)
    message(NOTICE "${name} has no documentation")
endforeach()
if(faults)
    message(NOTICE "Doxygen found the faults above")
endif()
list(LENGTH undocumented missing)
if(faults OR missing)
    message(FATAL_ERROR "the reference is not complete: ${missing} names without documentation")
endif()
list(LENGTH names count)
message(STATUS "${count} public names, all documented: ${OUTPUT}/html/index.html")
