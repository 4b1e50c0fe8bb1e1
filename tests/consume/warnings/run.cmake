# The headers give no warning to a consumer who includes them as his own, whatever he has switched on. Eigen is a system
# library to him.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D SCRATCH=<path>
#           -D WARNINGS=<list> -D LEVEL=<O0 ..> -D PROGRAM=<main or parts> -P ...
cmake_policy(VERSION 3.22)
list(TRANSFORM FLAGS REPLACE "^-I" "-isystem")
execute_process(COMMAND ${CXX} ${FLAGS} -I${INCLUDE} ${WARNINGS} -Werror -${LEVEL}
                        -c ${CMAKE_CURRENT_LIST_DIR}/${PROGRAM}.cpp -o ${SCRATCH}.o COMMAND_ERROR_IS_FATAL ANY)
