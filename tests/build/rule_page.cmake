# The rule that is shown on the page of the concept Rule is the one that a test compiles and proves, line for line:
#
#     cmake -D INCLUDE=<directory of specsample/> -D TEST=<file.cpp> -P rule_page.cmake
cmake_policy(VERSION 3.22)

file(READ ${INCLUDE}/specsample/verify/rule.hpp page)
file(READ ${TEST} test)
string(REGEX MATCH "//     struct [^\n]*\n(//     [^\n]*\n|//\n)*//     };\n" shown "${page}")
string(REGEX REPLACE "(^|\n)//     " "\\1" shown "${shown}")
string(REGEX REPLACE "(^|\n)//\n" "\\1\n" shown "${shown}")
string(FIND "${test}" "${shown}" found)
if(shown STREQUAL "" OR found EQUAL -1)
    message(FATAL_ERROR "${TEST} has not these lines of verify/rule.hpp:\n${shown}")
endif()
