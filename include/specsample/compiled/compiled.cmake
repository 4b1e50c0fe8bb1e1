# The CMake target specsample_compiled: what most programs instantiate, compiled once, by whoever links it and with their
# flags.
#
# On x86-64 its loops over values are compiled for three levels of the instruction set, and it chooses among them at run
# time (dispatch.cpp). All levels have the same functions under the same names, and so has std::vector: of each the
# linker would keep one, perhaps one that this machine cannot run. Therefore this file, as a script, renames what
# objects share:
#
#     cmake -D NM=<nm> -D OBJCOPY=<objcopy> -D SET=<name> -D FROM=<object> -D TO=<object> -P compiled.cmake
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    cmake_policy(VERSION 3.22)
    execute_process(COMMAND ${NM} --defined-only ${FROM} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    # Functions, constants (the width of a register, say), and names of groups of constructors; not types, which are
    # compared when an exception is caught.
    string(REGEX MATCHALL " [WVun] _Z[^\n]+" weak "${symbols}")
    list(FILTER weak EXCLUDE REGEX " _ZT[IS]")
    list(TRANSFORM weak REPLACE "^ . (.*)$" "\\1 ${SET}.\\1")
    list(JOIN weak "\n" names)
    file(WRITE ${TO}.names "${names}\n")
    execute_process(COMMAND ${OBJCOPY} --redefine-syms=${TO}.names ${FROM} ${TO} COMMAND_ERROR_IS_FATAL ANY)
    return()
endif()

if(TARGET specsample_compiled)
    return()
endif()
add_library(specsample_compiled STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/compiled.cpp)
target_link_libraries(specsample_compiled PUBLIC specsample::specsample)
target_compile_definitions(specsample_compiled PUBLIC SPECSAMPLE_COMPILED)
set_target_properties(specsample_compiled PROPERTIES EXPORT_NAME compiled POSITION_INDEPENDENT_CODE ON)

# specsample_add_loops(set [flags...]): the loops for one instruction set, with functions of their own.
function(specsample_add_loops set)
    set(loops specsample_loops_${set})
    add_library(${loops} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/loops.cpp)
    target_link_libraries(${loops} PRIVATE specsample::specsample)
    target_compile_definitions(${loops} PRIVATE SPECSAMPLE_COMPILED SPECSAMPLE_LOOPS=${loops})
    target_compile_options(${loops} PRIVATE $<TARGET_PROPERTY:specsample_compiled,COMPILE_OPTIONS> ${ARGN} -fno-lto)
    set_target_properties(${loops} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
    set(renamed ${CMAKE_CURRENT_BINARY_DIR}/${loops}${CMAKE_CXX_OUTPUT_EXTENSION})
    add_custom_command(OUTPUT ${renamed} VERBATIM
        DEPENDS ${loops} $<TARGET_OBJECTS:${loops}> ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        COMMAND ${CMAKE_COMMAND} -D NM=${CMAKE_NM} -D OBJCOPY=${CMAKE_OBJCOPY} -D SET=${set}
                -D FROM=$<TARGET_OBJECTS:${loops}> -D TO=${renamed} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
    set_source_files_properties(${renamed} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(specsample_compiled PRIVATE ${renamed})
endfunction()

option(SPECSAMPLE_DISPATCH "specsample::compiled chooses its instructions at run time, on x86-64 with ELF" ON)
get_property(specsample_many GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)  # then objects have no path that is known here
if(SPECSAMPLE_DISPATCH AND NOT specsample_many AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND
   CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND UNIX AND NOT APPLE AND
   CMAKE_NM AND CMAKE_OBJCOPY)
    target_compile_definitions(specsample_compiled PRIVATE SPECSAMPLE_DISPATCH)
    specsample_add_loops(base)
    foreach(level v3 v4)
        specsample_add_loops(${level} -march=x86-64-${level})
    endforeach()
endif()
