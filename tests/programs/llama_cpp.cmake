# The programs of examples/llama_cpp compile, where llama.cpp is not installed: against a stand-in that declares what they
# call.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D ROOT=<of the repository>
#           -P llama_cpp.cmake
cmake_policy(VERSION 3.22)
file(GLOB programs ${ROOT}/examples/llama_cpp/*.cpp)
set(failed 0)
foreach(program IN LISTS programs)
    execute_process(COMMAND ${CXX} ${FLAGS} -fsyntax-only -I${INCLUDE} -I${ROOT}/tests/llama_cpp/whole -I${ROOT}/tests
                            -I${ROOT}/examples ${program} RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        math(EXPR failed "${failed} + 1")
    endif()
endforeach()
list(LENGTH programs count)
if(failed OR count EQUAL 0)
    message(FATAL_ERROR "${failed} of ${count} programs do not compile")
endif()
