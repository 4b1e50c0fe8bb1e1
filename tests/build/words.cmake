# Words that this library has retired for those of the field stand in no header, and with ROOT in no other text of the
# repository.
#
#     cmake -D INCLUDE=<directory of specsample/> [-D ROOT=<repository>] -P words.cmake
#
# What stands for them: distribution, random draw or rng, residual, top-down, bottom-up, DraftTree, RoundContext, Side,
# encoding, scan, SharedNoise, ..Drafter, SamplingParams, FinishReason, RoundEnd, LastToken, StopDecision.
cmake_policy(VERSION 3.22)

set(retired [Ll]aws? [A-Za-z]*Law[s]? [a-z_]+_laws? [Cc]oins? [A-Za-z]*Coins? [a-z_]+_coins? [Oo]wed [Oo]wes OwedWeights
    [Ss]ub-?target SubTarget [Cc]limbs? Climber [Cc]ommit.walk Raced [Pp]roposals? Trial trial Party party
    [Cc]hain?Draft LookupDraft SuffixLookupDraft TreeDraft HeadsDraft HeadsTreeDraft HybridDraft BeamDraft
    DynamicTreeDraft PoolDraft StagedDraft AnyDraft PreparedDraft SharedNoiseDraft HeldRow KeptRow [Mm]eaning [Ss]urvey Finish
    End:: Last:: Stop::)
list(JOIN retired "|" retired)

file(GLOB_RECURSE texts ${INCLUDE}/specsample/*.hpp)
if(NOT texts)
    message(FATAL_ERROR "no header below ${INCLUDE}/specsample")
endif()
if(DEFINED ROOT)
    foreach(ending .cpp .hpp .md .txt .cmake)
        file(GLOB_RECURSE found ${ROOT}/bench/*${ending} ${ROOT}/examples/*${ending} ${ROOT}/tests/*${ending}
             ${ROOT}/.doxygen/*${ending})
        list(APPEND texts ${found})
    endforeach()
    list(APPEND texts ${ROOT}/README.md ${ROOT}/CMakeLists.txt)
    # This list of them, and a check of it.
    list(FILTER texts EXCLUDE REGEX "/tests/(build/words.cmake|build/planted/.*|CMakeLists.txt)$")
endif()
set(offences 0)
foreach(text IN LISTS texts)
    file(STRINGS ${text} lines REGEX "(^|[^A-Za-z_])(${retired})([^A-Za-z_]|$)")
    foreach(line IN LISTS lines)
        string(REGEX MATCH "(^|[^A-Za-z_])(${retired})([^A-Za-z_]|$)" word "${line}")
        message(NOTICE "${text}: `${CMAKE_MATCH_2}` is retired: ${line}")
        math(EXPR offences "${offences} + 1")
    endforeach()
endforeach()
# Clauses that stand for a noun which the reader has to look for, in the comments of headers.
file(GLOB_RECURSE headers ${INCLUDE}/specsample/*.hpp)
foreach(header IN LISTS headers)
    file(STRINGS ${header} lines REGEX "//.*(, of which|[Tt]heirs| [Tt]hose of)([^A-Za-z]|$)|/// The same for ")
    foreach(line IN LISTS lines)
        message(NOTICE "${header}: name what is meant: ${line}")
        math(EXPR offences "${offences} + 1")
    endforeach()
endforeach()
if(offences GREATER 0)
    message(FATAL_ERROR "${offences} lines use retired words, or leave out a noun")
endif()
list(LENGTH texts count)
message(STATUS "${count} texts use the words of the field")
