// Floor 8, metrics: reports and exports of a tally, and an audit of the text.
#pragma once

#include <specsample/core/estimate.hpp>             // IWYU pragma: export
#include <specsample/core/tally.hpp>                // IWYU pragma: export
#include <specsample/metrics/audit.hpp>             // IWYU pragma: export
#include <specsample/metrics/names.hpp>             // IWYU pragma: export
#include <specsample/metrics/overlap_estimate.hpp>  // IWYU pragma: export
#include <specsample/metrics/prometheus.hpp>        // IWYU pragma: export
#include <specsample/metrics/report.hpp>            // IWYU pragma: export
