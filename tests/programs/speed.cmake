# cmake -D SPEED= -D MODELS= -D SCRATCH= -P speed.cmake
# The comparison of drafters: its table, its chart, and what it refuses. Its checks of texts are its own exit code.

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
set(pair --target ${MODELS}/target_1.8M_int8.bin --tokenizer ${MODELS}/bpe2048.merges.u16)
set(short --threads 1 --max-tokens 8 --runs 1 --every 16 --seeds 50)

execute_process(COMMAND ${SPEED} ${pair} ${short} --temperatures 0,0.8 --chart ${SCRATCH}/chart.svg
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "speed ended with ${code}: ${output} ${errors}")
endif()
# Plain decoding takes its own time, and writes one token per pass.
foreach(line "plain +1.00 .1.00 to 1.00. +1.00 .* 1.00 +1.00\n" "\nlookup " "\nlayers " "temperature 0, lookup: 2 of 2 texts")
    if(NOT output MATCHES "${line}")
        message(SEND_ERROR "'${line}' is missing in ${output}")
    endif()
endforeach()

file(READ ${SCRATCH}/chart.svg chart)
foreach(part "^<svg .*</svg>\n$" ">temperature 0.0<.*>temperature 0.8<" ">lookup<.*>layers<.*>lookup<.*>layers<")
    if(NOT chart MATCHES "${part}")
        message(SEND_ERROR "'${part}' is missing in ${chart}")
    endif()
endforeach()
string(REGEX MATCHALL "<rect x=\"150\"" bars "${chart}")
list(LENGTH bars count)
if(NOT count EQUAL 16)  # two temperatures, two drafters, four groups
    message(SEND_ERROR "the chart has ${count} bars, but must have 16")
endif()

# Another program is measured at temperature 0 alone. This one takes 1000 seconds a token.
file(WRITE ${SCRATCH}/other "test $1 -eq 8 && test $# -gt 2 && echo 4000 5 6 7 8\n")
execute_process(COMMAND ${SPEED} ${pair} ${short} --temperatures 0,0.8 --other "sh ${SCRATCH}/other"
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
string(REGEX MATCHALL "\nother +0.00 .0.00 to 0.00. +1.00 " others "${output}")
list(LENGTH others count)
if(NOT code EQUAL 0 OR NOT count EQUAL 1 OR NOT output MATCHES "times the other program:\nplain +[0-9][0-9][0-9]")
    message(SEND_ERROR "speed --other ended with ${code}: ${output} ${errors}")
endif()

set(program ${SPEED})
include(${CMAKE_CURRENT_LIST_DIR}/refuses.cmake)

refuses("--chart must be followed by a value" ${pair} --chart)
refuses("'false' must print seconds and ids and end with code 0" ${pair} ${short} --temperatures 0 --other false)
refuses("--runs is 0, but must be at least 1" ${pair} --runs 0)
refuses("the chart ${SCRATCH}/none/chart.svg cannot be written" ${pair} ${short} --temperatures 0
        --chart ${SCRATCH}/none/chart.svg)
