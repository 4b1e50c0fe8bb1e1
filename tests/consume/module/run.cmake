# The programs of the front page, on the library as a module, print what they print on its headers. For clang.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D EXAMPLES=<directory>
#           -D SCRATCH=<directory> -P run.cmake
cmake_policy(VERSION 3.22)
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
set(module ${SCRATCH}/specsample.pcm)
execute_process(COMMAND ${CXX} ${FLAGS} -I${INCLUDE} --precompile ${INCLUDE}/specsample/specsample.cppm -o ${module}
                COMMAND_ERROR_IS_FATAL ANY)
foreach(program hello engine_loop)
    file(READ ${EXAMPLES}/${program}.cpp text)
    string(REGEX REPLACE "#include <specsample/[^\n]*\n" "" text "${text}")
    string(PREPEND text "#include <cstdint>\n#include <optional>\n#include <span>\n#include <vector>\n#include <Eigen/Core>\n"
                        "import specsample;\n")
    file(WRITE ${SCRATCH}/${program}.cpp "${text}")
    execute_process(COMMAND ${CXX} ${FLAGS} -fmodule-file=specsample=${module} ${SCRATCH}/${program}.cpp ${module}
                            -o ${SCRATCH}/${program} COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${CMAKE_COMMAND} -D PROGRAM=${SCRATCH}/${program} -D SOURCE=${EXAMPLES}/${program}.cpp
                            -P ${EXAMPLES}/prints.cmake COMMAND_ERROR_IS_FATAL ANY)
endforeach()
