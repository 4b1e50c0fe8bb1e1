# The cost of including the library, beside that of Eigen by itself.
#
#     cmake -D CXX=<compiler> -D FLAGS=<list> -D INCLUDE=<directory of specsample/> -D SCRATCH=<directory>
#           -D MAX_LINES=<hundredths of Eigen's> -D MAX_DEPTH=<n> -D MAX_SYMBOLS=<n> -D MAX_LINKED=<n>
#           -D MAX_VALUES=<hundredths of Eigen's> [-D MAX_UNUSED=<n>] [-D TIMES=ON] -P cost.cmake
#
# Lines, depth and symbols are the same on every machine, and bounded. Times vary by half, and are printed if asked for.
#   lines     of code after preprocessing, without the empty ones
#   depth     of headers inside headers, from the umbrella to Eigen
#   symbols   functions that a linker must merge, in the smallest program with a Sampler at -O0, and in one call of
#             verify that is linked with specsample::compiled: few, as long as that defines what such a program needs
#   unused    functions that including values compiles where nothing is used (g++ can count them)
#   time      of the whole compiler, at -O2; `linked` is the same with specsample::compiled
cmake_policy(VERSION 3.22)

file(MAKE_DIRECTORY ${SCRATCH})
list(APPEND FLAGS -I${INCLUDE})
set(offences 0)

# compile(output program [flags...]): the compiler's output, without its errors.
function(compile output program)
    execute_process(COMMAND ${CXX} ${FLAGS} ${ARGN} ${CMAKE_CURRENT_LIST_DIR}/cost/${program}.cpp
                    OUTPUT_VARIABLE log ERROR_VARIABLE errors RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${errors}")
    endif()
    set(${output} "${log}${errors}" PARENT_SCOPE)
endfunction()

# bounded(what is must)
macro(bounded what is must)
    message(STATUS "${what}: ${is}, at most ${must}")
    if(${is} GREATER ${must})
        message(NOTICE "${what} is ${is}, but at most ${must} is allowed")
        math(EXPR offences "${offences} + 1")
    endif()
endmacro()

# lines_of(program result [flags...])
function(lines_of program result)
    compile(text ${program} -E -P ${ARGN})
    string(REGEX REPLACE "[^\n]+" "" lines "${text}")
    string(LENGTH "${lines}" lines)
    set(${result} ${lines} PARENT_SCOPE)
endfunction()
lines_of(eigen eigen)
lines_of(umbrella umbrella)
math(EXPR lines "${umbrella} * 100 / ${eigen}")
bounded("lines of the umbrella, in hundredths of Eigen's" ${lines} ${MAX_LINES})

compile(tree umbrella -H -fsyntax-only)
string(REGEX MATCHALL "(^|\n)\\.+ [^\n]*specsample/[^\n]*" headers "${tree}")
set(depth 0)
foreach(header IN LISTS headers)
    string(REGEX MATCH "\\.+" dots "${header}")
    string(LENGTH "${dots}" dots)
    if(dots GREATER depth)
        set(depth ${dots})
    endif()
endforeach()
bounded("depth of headers" ${depth} ${MAX_DEPTH})

# A program of values that links specsample::compiled parses no Eigen.
foreach(program values sampler_values)
    compile(tree ${program} -H -fsyntax-only -D SPECSAMPLE_COMPILED)
    if(tree MATCHES "Eigen/")
        message(NOTICE "<specsample/${program}.hpp> includes Eigen in a program that links specsample::compiled")
        math(EXPR offences "${offences} + 1")
    endif()
endforeach()
lines_of(values values -D SPECSAMPLE_COMPILED)
math(EXPR lines "${values} * 100 / ${eigen}")
bounded("lines of values, linked, in hundredths of Eigen's" ${lines} ${MAX_VALUES})

# symbols_of(program result [flags...])
function(symbols_of program result)
    compile(log ${program} -O0 -S -o ${SCRATCH}/${program}.s ${ARGN})
    file(STRINGS ${SCRATCH}/${program}.s symbols REGEX "^[ \t]*\\.weak[ \t]")
    list(LENGTH symbols symbols)
    set(${result} ${symbols} PARENT_SCOPE)
endfunction()
symbols_of(sampler symbols)
bounded("symbols to merge in the smallest program" ${symbols} ${MAX_SYMBOLS})
symbols_of(verify linked -D SPECSAMPLE_COMPILED)
bounded("symbols to merge in one linked call of verify" ${linked} ${MAX_LINKED})

if(MAX_UNUSED)
    compile(log unused -O0 -fkeep-inline-functions -S -o ${SCRATCH}/unused.s)
    file(STRINGS ${SCRATCH}/unused.s symbols REGEX "^[ \t]*\\.weak[ \t].*specsample")
    list(LENGTH symbols unused)
    bounded("functions compiled for values that are not used" ${unused} ${MAX_UNUSED})
endif()

# time_of(program [flags...]): seconds of wall time.
function(time_of program result)
    string(TIMESTAMP begin "%s%f")
    compile(log ${program} -O2 -c -o ${SCRATCH}/${program}.o ${ARGN})
    string(TIMESTAMP end "%s%f")
    math(EXPR milliseconds "(${end} - ${begin}) / 1000")
    set(${result} ${milliseconds} PARENT_SCOPE)
endfunction()
if(TIMES)
    time_of(eigen eigen)
    foreach(program umbrella sampler verify values sampler_values)
        time_of(${program} plain)
        time_of(${program} linked -D SPECSAMPLE_COMPILED)
        math(EXPR plain "${plain} * 100 / ${eigen}")
        math(EXPR linked "${linked} * 100 / ${eigen}")
        message(STATUS "time of ${program}, in hundredths of Eigen's ${eigen} ms: ${plain}, linked ${linked}")
    endforeach()
endif()

if(offences)
    message(FATAL_ERROR "${offences} offences against the bounds")
endif()
