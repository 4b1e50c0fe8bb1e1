# The same program, compiled without a fused multiply-add and with every one that this machine has, writes the same
# tokens.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D SCRATCH=<directory> -P ...
cmake_policy(VERSION 3.22)

# tokens(output flags...)
function(tokens output)
    execute_process(COMMAND ${CXX} ${FLAGS} -I${INCLUDE} ${ARGN} ${CMAKE_CURRENT_LIST_DIR}/same_tokens.cpp
                            -o ${SCRATCH}/same_tokens COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${SCRATCH}/same_tokens OUTPUT_VARIABLE hashes COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS "${ARGN}\n${hashes}")
    set(${output} "${hashes}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${SCRATCH})
tokens(portable -O2 -ffp-contract=off)
tokens(native -O3 -march=native -ffp-contract=fast)
if(NOT portable MATCHES "token verification: [0-9a-f]+" OR NOT portable STREQUAL native)
    message(FATAL_ERROR "a token depends on how the program was compiled")
endif()
