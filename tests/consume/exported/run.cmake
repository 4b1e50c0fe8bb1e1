# A project builds shared and static engines on both targets of the library, and exports them as a package; another
# project uses that package. The library is in the tree of the first, without a choice of loops, or installed.
#
#     cmake -D CXX=<compiler> -D EIGEN=<directory of its package file> -D GENERATOR=<CMake's> -D SCRATCH=<directory>
#           [-D INSTALLED=<prefix>] -P run.cmake
cmake_policy(VERSION 3.22)
file(REMOVE_RECURSE ${SCRATCH})

function(run)
    execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
set(options -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX} -D Eigen3_DIR=${EIGEN})
if(INSTALLED)
    list(APPEND options -D specsample_DIR=${INSTALLED}/share/cmake/specsample)
else()
    list(APPEND options -D SPECSAMPLE_DISPATCH=OFF)
endif()
set(engines ${CMAKE_CURRENT_LIST_DIR})
run(-S ${engines} -B ${SCRATCH}/engines ${options})
run(--build ${SCRATCH}/engines)
run(--install ${SCRATCH}/engines --prefix ${SCRATCH}/prefix)
run(-S ${engines}/user -B ${SCRATCH}/user ${options} -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix -D SPECSAMPLE_DISPATCH=OFF)
run(--build ${SCRATCH}/user)
run(--build ${SCRATCH}/user --target test)
