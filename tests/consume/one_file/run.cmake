# The programs of the front page, on the library as one header, print what they print on its headers.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D EXAMPLES=<directory>
#           -D SCRATCH=<directory> -P run.cmake
cmake_policy(VERSION 3.22)
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
execute_process(COMMAND ${CMAKE_COMMAND} -D INCLUDE=${INCLUDE} -D OUT=${SCRATCH}/specsample.hpp
                        -P ${CMAKE_CURRENT_LIST_DIR}/../../../.packaging/single_header.cmake COMMAND_ERROR_IS_FATAL ANY)
foreach(program hello engine_loop)
    file(READ ${EXAMPLES}/${program}.cpp text)
    string(REGEX REPLACE "#include <specsample/[^\n]*" "#include \"specsample.hpp\"" text "${text}")
    file(WRITE ${SCRATCH}/${program}.cpp "${text}")
    execute_process(COMMAND ${CXX} ${FLAGS} ${SCRATCH}/${program}.cpp -o ${SCRATCH}/${program} COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${CMAKE_COMMAND} -D PROGRAM=${SCRATCH}/${program} -D SOURCE=${EXAMPLES}/${program}.cpp
                            -P ${EXAMPLES}/prints.cmake COMMAND_ERROR_IS_FATAL ANY)
endforeach()
