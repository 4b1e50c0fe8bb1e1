# Without Doxygen the target `reference` is there, fails, and says what to install.
#
#     cmake -D CXX=<compiler> -D EIGEN=<directory of its package file> -D ROOT=<repository> -D SCRATCH=<directory> -P ...
cmake_policy(VERSION 3.22)
file(REMOVE_RECURSE ${SCRATCH})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${ROOT} -B ${SCRATCH} -D CMAKE_CXX_COMPILER=${CXX} -D Eigen3_DIR=${EIGEN}
                        -D CMAKE_DISABLE_FIND_PACKAGE_Doxygen=ON -D SPECSAMPLE_BUILD_TESTS=OFF
                        -D SPECSAMPLE_BUILD_EXAMPLES=OFF -D SPECSAMPLE_BUILD_BENCH=OFF COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH} --target reference
                RESULT_VARIABLE status OUTPUT_VARIABLE log ERROR_VARIABLE log)
if(status EQUAL 0 OR NOT log MATCHES "apt install doxygen")
    message(FATAL_ERROR "reference ended with ${status}: ${log}")
endif()
