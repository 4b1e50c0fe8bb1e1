# Tools that index a source by its text find what the headers define.
#
#     cmake -D CTAGS=<program> -D INCLUDE=<directory of specsample/> -P tags.cmake
cmake_policy(VERSION 3.22)

# finds(header names...)
function(finds header)
    execute_process(COMMAND ${CTAGS} -f - ${INCLUDE}/specsample/${header} OUTPUT_VARIABLE tags COMMAND_ERROR_IS_FATAL ANY)
    foreach(name IN LISTS ARGN)
        if(NOT "\n${tags}" MATCHES "\n${name}\t")
            message(SEND_ERROR "ctags does not find ${name} in ${header}")
        endif()
    endforeach()
endfunction()
finds(sampler/loop.hpp Sampler generate extend step tally run write round)
finds(sampler/options.hpp Options Limits FinishReason Generation max_new_tokens)
finds(verify/verify.hpp verify check_ids)
finds(rows/rows.hpp element element_count check_count)
finds(rows/logits.hpp Logits LogitRows logits_of encoding)
