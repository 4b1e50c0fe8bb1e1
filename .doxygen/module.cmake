# The module of all public names, include/specsample/specsample.cppm: checks that it has those of the reference, or writes
# it.
#
#     cmake -D REFERENCE=<OUTPUT of reference.cmake> -D INCLUDE=<directory of specsample/> [-D WRITE=ON] -P module.cmake
cmake_policy(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/names.cmake)
public_names(${REFERENCE}/xml names undocumented)
file(GLOB spaces RELATIVE ${REFERENCE}/xml ${REFERENCE}/xml/namespacespecsample*.xml)
list(TRANSFORM spaces REPLACE "^namespace(.+)\\.xml$" "\\1")
list(TRANSFORM spaces REPLACE "_1_1" "::")
list(TRANSFORM spaces REPLACE "__" "_")  # as Doxygen spells it
list(REMOVE_ITEM names ${spaces})
if(NOT names)
    message(FATAL_ERROR "no public name in ${REFERENCE}/xml")
endif()

set(text "// All public names as a C++20 module, for compilers that can make one:
//
//     clang++ -std=c++20 -I include -isystem /usr/include/eigen3 --precompile include/specsample/specsample.cppm -o specsample.pcm
//     clang++ -std=c++20 -fmodule-file=specsample=specsample.pcm -isystem /usr/include/eigen3 engine.cpp specsample.pcm
//
// A program includes what it names of the standard library and of Eigen itself; clang 16 also wants <optional>.
// .doxygen/module.cmake writes this file.
module;

")
file(GLOB headers RELATIVE ${INCLUDE} ${INCLUDE}/specsample/*.hpp)
list(FILTER headers EXCLUDE REGEX "/compiled")
foreach(header IN LISTS headers ITEMS specsample/verify/batch.hpp)
    string(APPEND text "#include <${header}>\n")
endforeach()
string(APPEND text "\nexport module specsample;\n")
foreach(space IN LISTS spaces)
    set(here ${names})
    list(FILTER here INCLUDE REGEX "^${space}::[^:]+$")
    if(here)
        list(JOIN here ";\nusing " lines)
        string(APPEND text "\nexport namespace ${space} {\nusing ${lines};\n}  // namespace ${space}\n")
    endif()
endforeach()
string(APPEND text [[

// What values need is compiled here: clang 16 does not find the overloads that these call where a program that imports the
// module would instantiate them.
namespace specsample { inline namespace SPECSAMPLE_ABI { namespace detail {
template std::span<const DraftScore> score_values(const Links&, std::span<const Token>, const Origins&, const Rows&,
                                                  const RoundRng&, const Round&, Scores&);
template std::span<const TokenScore> score_emitted(const Round&, const Rows&, Scores&, Index);
}}}
]])

set(file ${INCLUDE}/specsample/specsample.cppm)
if(WRITE)
    file(WRITE ${file} "${text}")
    return()
endif()
file(READ ${file} written)
if(NOT written STREQUAL text)
    message(FATAL_ERROR "${file} has not the public names of the library: run this script again with -D WRITE=ON")
endif()
