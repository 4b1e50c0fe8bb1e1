# cmake -D WRITER= -D MODELS= -D SCRATCH= -P write_texts.cmake
# The writer of texts: how much it stores, that the same seed stores the same, and what it refuses.

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
set(target --target ${MODELS}/target_1.8M_int8.bin)
set(requests ${SCRATCH}/requests)

# run(out [arguments...]): writes what the requests ask for.
function(run out)
    execute_process(COMMAND ${WRITER} ${target} --requests ${requests} --out ${SCRATCH}/${out} ${ARGN}
                    RESULT_VARIABLE code ERROR_VARIABLE errors)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "write_texts ended with ${code}: ${errors}")
    endif()
endfunction()

set(program ${WRITER})
include(${CMAKE_CURRENT_LIST_DIR}/refuses.cmake)

# No text can end before its length: there is no token 2047 among the likely ones, and --end names it.
file(WRITE ${requests} "0 ; 256 70 71\n0.8 ; 256 ; 100 101\n1 ; 256 72\n")
run(one --length 24 --message 5 --top 3 --end 2047)
run(same --length 24 --message 5 --top 3 --end 2047 --threads 1)
run(other --length 24 --message 5 --top 3 --end 2047 --seed 1)
file(SIZE ${SCRATCH}/one size)
# A header of 8 bytes; per text 12, and per token 4, 2 for each of 160 numbers of its three states, and 6 for each likely token.
math(EXPR expected "8 + 3 * (12 + 24 * (4 + 2 * 3 * 160 + 6 * 3))")
if(NOT size EQUAL expected)
    message(SEND_ERROR "3 texts of 24 tokens take ${size} bytes, but must take ${expected}")
endif()
foreach(name one same other)
    file(SHA256 ${SCRATCH}/${name} hash_${name})
endforeach()
run(longer --length 24 --message 9 --top 3 --end 2047)
file(SHA256 ${SCRATCH}/longer hash_longer)
if(hash_one STREQUAL hash_longer)
    message(SEND_ERROR "the length of invented messages changes nothing")
endif()

# The sixth token of the first text, which is greedy: as the end it cuts the text there.
file(READ ${SCRATCH}/one bytes OFFSET 40 LIMIT 2 HEX)
string(REGEX REPLACE "^(..)(..)$" "0x\\2\\1" end ${bytes})
math(EXPR end ${end})
file(WRITE ${requests} "0 ; 256 70 71\n")
run(ended --length 24 --top 3 --end ${end})
file(SIZE ${SCRATCH}/ended size)
math(EXPR most "8 + 12 + 6 * (4 + 2 * 3 * 160 + 6 * 3)")
if(size GREATER most)
    message(SEND_ERROR "a text that ends after 6 tokens at most takes ${size} bytes, but must take at most ${most}")
endif()

if(NOT hash_one STREQUAL hash_same)
    message(SEND_ERROR "the number of threads changes what is written")
endif()
if(hash_one STREQUAL hash_other)
    message(SEND_ERROR "the seed changes nothing")
endif()

refuses("--requests is missing" ${target} --out ${SCRATCH}/x)
refuses("--length is 1, but must be at least 2" ${target} --length 1)
refuses("--top is 'many', but must be a number" ${target} --top many)
refuses("--seed must be followed by a value" ${target} --seed)
refuses("there is no option --lenght" --lenght 3)
refuses("cannot be opened" ${target} --requests ${SCRATCH}/none --out ${SCRATCH}/x)
file(WRITE ${requests} "warm ; 1\n")
refuses("must begin with a temperature" ${target} --requests ${requests} --out ${SCRATCH}/x)
file(WRITE ${requests} "0 ; 1 2048\n")
refuses("line 1 of ${requests} has the token 2048, which is not one" ${target} --requests ${requests} --out ${SCRATCH}/x)
file(WRITE ${requests} "0 ; 1\n0 ;\n")
refuses("line 2 of ${requests} has no tokens" ${target} --requests ${requests} --out ${SCRATCH}/x)
