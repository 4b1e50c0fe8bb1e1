// What this program measures. Each of these registers its benchmarks.
#pragma once

namespace bench {

void register_reads();
void register_kernels();
void register_rounds();
void register_rules();

}  // namespace bench
