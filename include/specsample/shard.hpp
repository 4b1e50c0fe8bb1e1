// Rows split over ranks: every rank holds one slice of each row, and gets the same results as from the whole row.
//
//   Sharded           a split row: a target returns it, and optionally a draft model
//   GatheredNumbers   the numbers of a split row, for a Row
//   even_slice        the slice of one rank in an even split
//   Ranks             the ranks that share rows, made from a Communicator
//   Communicator      the concept: sends messages between ranks
//   OneRank, ThreadGroup, Thread   communicators for a single rank, and for the threads of one process
#pragma once

#include <specsample/shard/communicator.hpp>      // IWYU pragma: export
#include <specsample/shard/gathered_numbers.hpp>  // IWYU pragma: export
#include <specsample/shard/ranks.hpp>             // IWYU pragma: export
#include <specsample/shard/sharded.hpp>           // IWYU pragma: export
#include <specsample/shard/threads.hpp>           // IWYU pragma: export
