# Run a program and compare what it prints with the lines below "// Prints" in its source, but for spaces at line ends.
#     cmake -D PROGRAM=<program> -D SOURCE=<its source> -P prints.cmake
cmake_policy(VERSION 3.22)

file(READ ${SOURCE} text)
if(NOT text MATCHES "// Prints[^\n]*\n((//   [^\n]*\n)+)")
    message(FATAL_ERROR "${SOURCE} does not say what it prints")
endif()
string(REPLACE "//   " "" expected "${CMAKE_MATCH_1}")
string(REGEX REPLACE " +\n" "\n" expected "${expected}")

execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE " +\n" "\n" printed "${printed}")
if(NOT printed STREQUAL expected)
    message(FATAL_ERROR "${SOURCE} says that it prints\n${expected}but it prints\n${printed}")
endif()
