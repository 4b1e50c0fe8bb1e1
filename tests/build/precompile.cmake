# Headers parsed once for many programs.
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D HEADERS=<list>
#           -D SCRATCH=<directory> -P precompile.cmake
# Then `-include ${SCRATCH}/first.hpp` takes them, precompiled. What they include from other libraries gives no warnings.
cmake_policy(VERSION 3.22)
list(TRANSFORM FLAGS REPLACE "^-I" "-isystem")
list(TRANSFORM HEADERS REPLACE "(.+)" "#include <\\1>\n")
list(JOIN HEADERS "" text)
file(WRITE ${SCRATCH}/first.hpp "${text}")
execute_process(COMMAND ${CXX} --version OUTPUT_VARIABLE version)
if(version MATCHES "clang version")  # what the headers' own functions need is instantiated once, and not by every program
    list(APPEND FLAGS -fpch-instantiate-templates)
endif()
execute_process(COMMAND ${CXX} ${FLAGS} -I${INCLUDE} -x c++-header ${SCRATCH}/first.hpp -o ${SCRATCH}/first.hpp.gch
                COMMAND_ERROR_IS_FATAL ANY)
