# Put every named bug into one copy of the headers, each behind a guard that the environment opens at run time:
#
#     cmake -D INCLUDE=<directory of specsample/> -D "BUGS=<files>" -D OUT=<directory> -P guard.cmake
#
# So the proof is compiled once for all bugs, and a program runs as the mutant that SPECSAMPLE_MUTANT names (Untch,
# Offutt, Harrold: "Mutation analysis using mutant schemata", ISSTA 1993). A constant evaluation sees no bug.
#
# A bug is a block
#     bug: name
#     why: what is wrong, in one line
#     in:  header, relative to specsample/
#     by:  the test case that catches it, or [a tag]
#     - old text: it must occur in the header exactly once, within a line or over several such lines
#     + new text: likewise, or no such line at all
# Where the old text ends with ; or }, both texts are whole statements, otherwise both are expressions. If that text
# alone occurs more than once, it stands between @[ and ]@, in a longer text that does not. Bugs may share an old text,
# or one may lie inside another's.
cmake_policy(VERSION 3.22)

# read_bug(file name): sets header, old, new and, around old, before and after.
function(read_bug file name)
    file(READ ${file} text)
    string(REGEX MATCH "(^|\n)bug: ${name}\nwhy: ([^\n]*)\nin:  ([^\n]*)\nby:  ([^\n]*)((\n- [^\n]*)+)((\n\\+ [^\n]*)*)\n"
           block "${text}")
    if(NOT block)
        message(FATAL_ERROR "${name}: not a well-formed block of ${file}")
    endif()
    set(header ${CMAKE_MATCH_3} PARENT_SCOPE)
    string(REPLACE "\n- " "\n" old "${CMAKE_MATCH_5}")
    string(REPLACE "\n+ " "\n" new "${CMAKE_MATCH_7}")
    string(REGEX REPLACE "^\n" "" old "${old}")
    string(REGEX REPLACE "^\n" "" new "${new}")
    set(before "")
    set(after "")
    string(FIND "${old}" "@[" from)
    string(FIND "${old}" "]@" to)
    if(NOT from EQUAL -1)
        string(SUBSTRING "${old}" 0 ${from} before)
        math(EXPR next "${to} + 2")
        string(SUBSTRING "${old}" ${next} -1 after)
        math(EXPR first "${from} + 2")
        math(EXPR length "${to} - ${first}")
        string(SUBSTRING "${old}" ${first} ${length} old)
    endif()
    foreach(result old new before after)
        set(${result} "${${result}}" PARENT_SCOPE)
    endforeach()
endfunction()

# guarded(result place): the text of a place behind the guards of its bugs.
function(guarded result place)
    string(REGEX MATCH "[;}]$" is_statement "${old_${place}}")
    set(all "")
    foreach(bug IN LISTS bugs_${place})
        if(is_statement)
            string(APPEND all "if (specsample_mutant(${bug})) {\n${new_${bug}}\n} else ")
        else()
            string(APPEND all "specsample_mutant(${bug}) ? (${new_${bug}}) : ")
        endif()
    endforeach()
    if(is_statement)
        set(${result} "${all}{\n${old_${place}}\n}" PARENT_SCOPE)
    else()
        set(${result} "(${all}(${old_${place}}))" PARENT_SCOPE)
    endif()
endfunction()

# A place is an old text in its header. Read all bugs, and number those places.
set(names "\"none\"")
set(bug 0)
set(place 0)
set(headers "")
foreach(file IN LISTS BUGS)
    file(STRINGS ${file} blocks REGEX "^bug: ")
    list(TRANSFORM blocks REPLACE "^bug: " "")
    foreach(name IN LISTS blocks)
        read_bug(${file} ${name})
        math(EXPR bug "${bug} + 1")
        string(APPEND names ", \"${name}\"")
        set(new_${bug} "${new}")
        if(NOT header IN_LIST headers)
            list(APPEND headers ${header})
            set(places_${header} "")
        endif()
        set(found "")
        foreach(other IN LISTS places_${header})
            if("${before_${other}}${old_${other}}${after_${other}}" STREQUAL "${before}${old}${after}")
                set(found ${other})
            endif()
        endforeach()
        if(NOT found)
            math(EXPR place "${place} + 1")
            set(found ${place})
            list(APPEND places_${header} ${place})
            set(name_${place} ${name})
            set(old_${place} "${old}")
            set(before_${place} "${before}")
            set(after_${place} "${after}")
        endif()
        list(APPEND bugs_${found} ${bug})
    endforeach()
endforeach()

# Shorter texts first: a text that lies inside a longer one is a mark there when the longer one's turn comes. Then the
# marks become guarded texts, in reverse order.
foreach(header IN LISTS headers)
    file(READ ${INCLUDE}/specsample/${header} text)
    set(sorted "")
    foreach(place IN LISTS places_${header})
        string(LENGTH "${old_${place}}" length)
        math(EXPR key "100000 + ${length}")
        list(APPEND sorted "${key}:${place}")
    endforeach()
    list(SORT sorted)
    list(TRANSFORM sorted REPLACE ".*:" "")
    set(later ${sorted})
    foreach(place IN LISTS sorted)
        list(POP_FRONT later)
        set(whole "${before_${place}}${old_${place}}${after_${place}}")
        string(FIND "${text}" "${whole}" first)
        string(FIND "${text}" "${whole}" last REVERSE)
        if(first EQUAL -1 OR NOT first EQUAL last)
            message(FATAL_ERROR "${name_${place}}: no longer applies: its old text does not occur exactly once in "
                                "${header}, or only a part of it lies inside another bug's")
        endif()
        set(marked "${before_${place}}@${place}@${after_${place}}")
        string(REPLACE "${whole}" "${marked}" text "${text}")
        foreach(other IN LISTS later)
            foreach(part before old after)
                string(REPLACE "${whole}" "${marked}" ${part}_${other} "${${part}_${other}}")
            endforeach()
        endforeach()
    endforeach()
    list(REVERSE sorted)
    foreach(place IN LISTS sorted)
        guarded(guard ${place})
        string(REPLACE "@${place}@" "${guard}" text "${text}")
    endforeach()
    set(text_${header} "#include <specsample_mutant.hpp>\n${text}")
endforeach()

# A header that is as it was is not written again, so that nothing is compiled again for it.
file(WRITE ${OUT}.new/specsample_mutant.hpp "// Which bug the program runs with: none, or the one that the environment names.
#pragma once
#include <cstdlib>
#include <cstring>
#include <type_traits>
inline constexpr const char* specsample_mutants[] = {${names}};
inline const int specsample_selected = [] {
    const char* name = std::getenv(\"SPECSAMPLE_MUTANT\");
    constexpr int count = sizeof(specsample_mutants) / sizeof(*specsample_mutants);
    int bug = 0;
    while (name && bug < count && std::strcmp(name, specsample_mutants[bug])) ++bug;
    if (bug == count) std::abort();
    return bug;
}();
constexpr bool specsample_mutant(int bug) { return !std::is_constant_evaluated() && specsample_selected == bug; }
")
file(COPY ${INCLUDE}/specsample DESTINATION ${OUT}.new)
foreach(header IN LISTS headers)
    file(WRITE ${OUT}.new/specsample/${header} "${text_${header}}")
endforeach()
file(GLOB_RECURSE written RELATIVE ${OUT}.new ${OUT}.new/*)
foreach(file IN LISTS written)
    configure_file(${OUT}.new/${file} ${OUT}/${file} COPYONLY)
endforeach()
file(REMOVE_RECURSE ${OUT}.new)
