// Rows spread over ranks: every rank holds a slice of each, and gets what the whole row would give.
//
//   Sharded        a row of slices: a target, and where wanted a draft, returns it
//   even_slice     a slice for each rank
//   Ranks          who shares rows, made from a Communicator
//   Communicator   what reaches the other ranks: the concept
//   OneRank, ThreadGroup, Thread   communicators of one rank, and of the threads of one process
#pragma once

#include <specsample/shard/communicator.hpp>  // IWYU pragma: export
#include <specsample/shard/ranks.hpp>         // IWYU pragma: export
#include <specsample/shard/sharded.hpp>       // IWYU pragma: export
#include <specsample/shard/threads.hpp>       // IWYU pragma: export
