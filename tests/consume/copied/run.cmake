# No build system: copy include/, name it and Eigen to the compiler.
file(REMOVE_RECURSE ${SCRATCH})
file(COPY ${INCLUDE} DESTINATION ${SCRATCH})
execute_process(COMMAND ${CXX} ${FLAGS} -I${SCRATCH}/include ${MAIN} -o ${SCRATCH}/consumer COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${SCRATCH}/consumer COMMAND_ERROR_IS_FATAL ANY)
