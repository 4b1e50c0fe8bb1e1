// The list of measured kernels. To add one, call `kernels.push_back` in the file of its kind.
#pragma once

#include "race.hpp"

#include <string>
#include <vector>

namespace bench {

struct Kernel {
    std::string name;   ///< "residual/probs"
    std::string group;  ///< its section of the table, and its plot; empty: in neither
    std::function<Race(const Setting&)> race;
    Setting at;  ///< its setting, measured at every vocabulary size, hot and cold
};
using Kernels = std::vector<Kernel>;

void add_reads(Kernels& kernels);
void add_drafting(Kernels& kernels);
void add_draws(Kernels& kernels);
void add_logits(Kernels& kernels);
void add_lengths(Kernels& kernels);
void add_lookup(Kernels& kernels);
void add_rounds(Kernels& kernels);
void add_rules(Kernels& kernels);
void add_shaping(Kernels& kernels);
void add_sparse(Kernels& kernels);

inline Kernels all_kernels() {
    Kernels kernels;
    add_reads(kernels);
    add_draws(kernels);
    add_rounds(kernels);
    add_rules(kernels);
    add_drafting(kernels);
    add_logits(kernels);
    add_shaping(kernels);
    add_sparse(kernels);
    add_lookup(kernels);
    add_lengths(kernels);
    return kernels;
}

}  // namespace bench
