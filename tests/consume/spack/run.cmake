# The recipe for Spack, by stand-ins for what it imports: what it says, and an installation with the arguments it gives.
cmake_policy(VERSION 3.22)
file(REMOVE_RECURSE ${SCRATCH})

function(run)
    execute_process(COMMAND ${ARGN} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(repository ${ROOT}/.packaging/spack/spack_repo/specsample)
execute_process(COMMAND ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/recipe.py ${repository}/packages/specsample/package.py
                OUTPUT_VARIABLE recipe COMMAND_ERROR_IS_FATAL ANY)
if(NOT recipe MATCHES "^([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n$")
    message(FATAL_ERROR "the recipe was read as: ${recipe}")
endif()
set(version ${CMAKE_MATCH_1})
set(git ${CMAKE_MATCH_2})
set(needs ${CMAKE_MATCH_3})
set(arguments ${CMAKE_MATCH_4})
if(NOT version STREQUAL VERSION)
    message(FATAL_ERROR "the version in package.py is ${version}, but must be ${VERSION}")
endif()
if(NOT git STREQUAL "file://${ROOT}")
    message(FATAL_ERROR "the recipe installs ${git}, but must install file://${ROOT}")
endif()
if(NOT needs MATCHES "eigen@3\\.4")
    message(FATAL_ERROR "the recipe needs no Eigen: ${needs}")
endif()
file(STRINGS ${repository}/repo.yaml namespace REGEX "^  namespace: specsample$")
if(NOT namespace)
    message(FATAL_ERROR "the namespace in repo.yaml must be the name of its folder, specsample")
endif()

run(${CMAKE_COMMAND} -S ${ROOT} -B ${SCRATCH}/build -D CMAKE_INSTALL_PREFIX=${SCRATCH}/installed
    -D CMAKE_CXX_COMPILER=${CXX} -D Eigen3_DIR=${EIGEN_DIR} -D CMAKE_BUILD_TYPE=Release ${arguments})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${CMAKE_COMMAND} --install ${SCRATCH}/build)
run(${CMAKE_COMMAND} -S ${ROOT}/tests/consume/installed -B ${SCRATCH}/consumer -D CMAKE_CXX_COMPILER=${CXX}
    -D Eigen3_DIR=${EIGEN_DIR} -D CMAKE_PREFIX_PATH=${SCRATCH}/installed)
