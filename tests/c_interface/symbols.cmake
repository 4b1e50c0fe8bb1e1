# The shared library exports what <specsample/c.h> declares, and nothing else.
#
#     cmake -D INCLUDE=<directory of specsample/> -D NM=<nm> -D LIBRARY=<the library> -P symbols.cmake
cmake_policy(VERSION 3.22)

file(READ ${INCLUDE}/specsample/c.h header)
string(REGEX MATCHALL "SPECSAMPLE_C_API [^(]+\\(" functions "${header}")
list(TRANSFORM functions REPLACE ".*(specsample_[a-z_]+)\\($" "\\1")
list(FILTER functions INCLUDE REGEX "^specsample_")
list(SORT functions)
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" symbols "${symbols}")
list(TRANSFORM symbols STRIP)
list(SORT symbols)
list(LENGTH functions count)
if(count LESS 5 OR NOT functions STREQUAL symbols)
    message(FATAL_ERROR "c.h declares\n  ${functions}\nbut the library exports\n  ${symbols}")
endif()
message(STATUS "${count} functions, and nothing else")
