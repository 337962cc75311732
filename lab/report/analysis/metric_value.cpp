// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/metric_value.hpp"

namespace tenure::lab {

summary value_of(const metric& measured) {
    return measured.summarized ? measured.summarized->value : summarize(measured.samples);
}

summary ratio_of(const metric& measured, const metric& baseline) {
    return measured.summarized ? measured.summarized->ratio
                               : summarize(round_ratios(measured.samples, baseline.samples));
}

}
