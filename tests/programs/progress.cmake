# How far a build is, as ./examples/run and ./tests/run say it.
#     cmake -D ROOT=<repository> -P progress.cmake
cmake_policy(VERSION 3.22)

# said(result steps): what is said of so many steps of make.
function(said result steps)
    set(lines "")
    foreach(step RANGE 1 ${steps})
        math(EXPR percent "100 * ${step} / ${steps}")
        string(APPEND lines "[ ${percent}%] Building CXX object ${step}.o\n")
    endforeach()
    execute_process(COMMAND bash -c "source .ci/setup.sh; jobs=2; printf '%s' \"$1\" | progress building" bash "${lines}"
                    WORKING_DIRECTORY ${ROOT} OUTPUT_VARIABLE out ERROR_VARIABLE err COMMAND_ERROR_IS_FATAL ANY)
    set(${result} "${err}" PARENT_SCOPE)
endfunction()

said(few 7)
if(NOT few MATCHES "building: 28 % after 0:0" OR few MATCHES "left")
    message(SEND_ERROR "of a few unequal steps nobody can say how long they take: ${few}")
endif()
said(many 60)
if(NOT many MATCHES "building: 50 % after 0:0[0-9], about 0:0" OR many MATCHES "100 %[^\n]*left")
    message(SEND_ERROR "of many steps the time that is left must be estimated, but not of the last: ${many}")
endif()
