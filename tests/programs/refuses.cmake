# Included by scripts that set `program`.
# refuses(message [arguments...]): the program ends with code 2 and this message.
function(refuses message)
    execute_process(COMMAND ${program} ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    string(FIND "${errors}" "${message}" found)
    if(NOT code EQUAL 2 OR found EQUAL -1)
        message(SEND_ERROR "instead of '${message}', ended with ${code}: ${errors}")
    endif()
endfunction()
