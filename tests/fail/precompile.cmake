# The library's headers, parsed once for all programs that must not compile: half of what they would take.
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D SCRATCH=<directory> -P ...
cmake_policy(VERSION 3.22)
file(WRITE ${SCRATCH}/all.hpp "#include <specsample/specsample.hpp>\n")
execute_process(COMMAND ${CXX} ${FLAGS} -I${INCLUDE} -x c++-header ${SCRATCH}/all.hpp -o ${SCRATCH}/all.hpp.gch
                COMMAND_ERROR_IS_FATAL ANY)
