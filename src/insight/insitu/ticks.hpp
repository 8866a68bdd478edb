// Where an axis has its marks, and their numbers: round ones, as few digits as tell them apart.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace forebay::insitu {

struct Tick {
    double at = 0;
    std::string label;
};

struct Ticks {
    std::vector<Tick> marks;  // rising
    std::string factor;       // what makes labels values: "×10⁶", "×10⁻⁶ + 300.2"; or nothing
};

/// At multiples of 1, 2 or 5 times a power of ten, at most `most` steps from end to end; where values hardly vary,
/// labels are of what is beyond a number that all have in common. None where `low` is not below `high`, one of them is
/// not finite, or they are so close that numbers could not tell marks apart.
Ticks linear_ticks(double low, double high, int most);

/// The same of a logarithmic axis: powers of ten, of few decades with their multiples by 2 and 5, and linear ones where
/// that makes less than three.
Ticks log_ticks(double low, double high, int most);

/// Dots of text of the widest label.
int label_columns(const Ticks& ticks);

/// The words of an axis, with what makes its labels values behind them.
std::string with_factor(const std::string& label, const Ticks& ticks);

/// As many marks as have their labels beside each other with room between them, along `width` pixels: `ticks_of` tells
/// those of an axis with at most so many steps; `scale` pixels are a dot of text.
Ticks fitting_ticks(const std::function<Ticks(int most)>& ticks_of, int width, int scale);

}  // namespace forebay::insitu
