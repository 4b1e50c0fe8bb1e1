# The public names of the library, read from the XML that Doxygen wrote.

# documented(xml indentation variable): has the element whose children are indented so a description?
function(documented xml indentation variable)
    if(xml MATCHES "\n${indentation}<(brief|detailed)description>\n<para>")
        set(${variable} TRUE PARENT_SCOPE)
    else()
        set(${variable} FALSE PARENT_SCOPE)
    endif()
endfunction()

# read_xml(file variable): its text, without the three characters that lists cannot hold.
function(read_xml file variable)
    file(READ ${file} text)
    string(REGEX REPLACE "[][;]" "" text "${text}")
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# public_names(xml names undocumented): the full names at namespace scope, sorted, each once; and those of them of which
# no declaration is documented.
function(public_names xml names undocumented)
    set(all "")
    set(known "")
    macro(found name described)
        list(APPEND all ${name})
        if(${described})
            list(APPEND known ${name})
        endif()
    endmacro()

    file(GLOB spaces ${xml}/namespacespecsample*.xml)
    foreach(space IN LISTS spaces)
        read_xml(${space} text)
        string(REGEX MATCH "<compoundname>([^<]+)" prefix "${text}")
        set(prefix ${CMAKE_MATCH_1})
        documented("${text}" "    " described)
        found(${prefix} described)

        # Classes have files of their own. What follows the name of a specialisation is not part of it.
        string(REGEX MATCHALL "<innerclass refid=\"[^\"]+\"[^>]*>[^ &<]+" classes "${text}")
        foreach(class IN LISTS classes)
            string(REGEX MATCH "refid=\"([^\"]+)\"[^>]*>(.+)" class "${class}")
            set(name ${CMAKE_MATCH_2})
            read_xml(${xml}/${CMAKE_MATCH_1}.xml body)
            documented("${body}" "    " described)
            found(${name} described)
        endforeach()

        # Functions, variables, aliases and enumerations.
        string(REPLACE "<memberdef " ";" members "${text}")
        list(POP_FRONT members)
        foreach(member IN LISTS members)
            string(REGEX MATCH "\n        <name>([^<]+)" name "${member}")
            set(name ${prefix}::${CMAKE_MATCH_1})
            documented("${member}" "        " described)
            if(NOT name MATCHES "::operator")
                found(${name} described)
            endif()
        endforeach()
    endforeach()

    # So have concepts, which the older Doxygen does not list with their namespace.
    file(GLOB concepts ${xml}/conceptspecsample*.xml)
    foreach(concept IN LISTS concepts)
        read_xml(${concept} body)
        string(REGEX MATCH "<compoundname>([^<]+)" name "${body}")
        set(name ${CMAKE_MATCH_1})
        documented("${body}" "    " described)
        found(${name} described)
    endforeach()

    list(REMOVE_DUPLICATES all)
    list(SORT all)
    set(${names} ${all} PARENT_SCOPE)
    if(known)
        list(REMOVE_ITEM all ${known})
    endif()
    set(${undocumented} ${all} PARENT_SCOPE)
endfunction()
