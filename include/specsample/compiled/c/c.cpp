// The definitions of what <specsample/c.h> declares, on rows and origins that are values; a part of compiled.cpp.
//
//   arguments.cpp   what all functions share: a call with a message, rows, random numbers, rules
//   rounds.cpp      draws and rounds
//   scores.cpp      log-probabilities of rounds
//   shaping.cpp     rows by sampling parameters
//   lookup.cpp      drafts out of texts
#include <specsample/compiled/c/arguments.cpp>
#include <specsample/compiled/c/lookup.cpp>
#include <specsample/compiled/c/rounds.cpp>
#include <specsample/compiled/c/scores.cpp>
#include <specsample/compiled/c/shaping.cpp>
