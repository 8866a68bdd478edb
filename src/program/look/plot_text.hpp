// Charts and planes in the characters of a terminal: dots of Braille and shades, or ASCII alone.

#pragma once

#include "core/terminal/table.hpp"
#include "insight/insitu/chart.hpp"
#include "insight/insitu/scene.hpp"

namespace forebay::cli {

struct TextPicture {
    int columns = 80;
    bool is_plain = false;     // ASCII alone
    bool has_colours = false;  // as terminals show them
};

/// Errors as insitu::axes_of().
Result<Shown> text_of(const insitu::Chart& chart, const TextPicture& picture);

/// `refused` as insitu::draw_png().
Result<Shown> text_of(const insitu::Scene& scene, const TextPicture& picture);

}  // namespace forebay::cli
