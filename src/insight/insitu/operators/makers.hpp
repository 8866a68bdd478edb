// The makers of all kinds of analyses, one file an operator. analyser.hpp describes what they refuse.

#pragma once

#include <memory>
#include <span>

#include "insight/insitu/analyser.hpp"

namespace forebay::insitu {

using Maker = Result<std::unique_ptr<Analyser>>(const Analysis& analysis, std::span<const Variable> variables);

Maker make_statistics, make_histogram, make_histogram_2d, make_slice, make_projection, make_downsample, make_probe,
    make_density, make_spectrum, make_halos;

}  // namespace forebay::insitu
