# The library's headers, parsed once for all programs that must not compile: half of what they would take.
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D SCRATCH=<directory> -P ...
cmake_policy(VERSION 3.22)
set(all beam drafters lossy sampler shaping specsample vocabularies)
list(TRANSFORM all REPLACE "(.+)" "#include <specsample/\\1.hpp>\n")
list(JOIN all "" all)
file(WRITE ${SCRATCH}/all.hpp "${all}")
execute_process(COMMAND ${CXX} ${FLAGS} -I${INCLUDE} -x c++-header ${SCRATCH}/all.hpp -o ${SCRATCH}/all.hpp.gch
                COMMAND_ERROR_IS_FATAL ANY)
