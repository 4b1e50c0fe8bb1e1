// Floor 2, metrics: what rounds did, counted, estimated, reported and audited.
#pragma once

#include <specsample/metrics/audit.hpp>             // IWYU pragma: export
#include <specsample/metrics/estimate.hpp>          // IWYU pragma: export
#include <specsample/metrics/names.hpp>             // IWYU pragma: export
#include <specsample/metrics/overlap_estimate.hpp>  // IWYU pragma: export
#include <specsample/metrics/prometheus.hpp>        // IWYU pragma: export
#include <specsample/metrics/report.hpp>            // IWYU pragma: export
#include <specsample/metrics/tally.hpp>             // IWYU pragma: export
