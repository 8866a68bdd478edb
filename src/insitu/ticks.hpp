// Where an axis has its marks, and their numbers: round ones, as few digits as tell them apart.

#pragma once

#include <string>
#include <vector>

namespace forebay::insitu {

struct Tick {
    double at = 0;
    std::string label;
};

struct Ticks {
    std::vector<Tick> marks;  // rising
    std::string factor;       // by which all labels are to be multiplied, "×10⁶"; or nothing
};

/// At multiples of 1, 2 or 5 times a power of ten, at most `most` steps from end to end. None where `low` is not below
/// `high`, one of them is not finite, or they are so close that numbers could not tell marks apart.
Ticks linear_ticks(double low, double high, int most);

/// The same of a logarithmic axis: powers of ten, of few decades with their multiples by 2 and 5, and linear ones where
/// that makes less than three.
Ticks log_ticks(double low, double high, int most);

}  // namespace forebay::insitu
