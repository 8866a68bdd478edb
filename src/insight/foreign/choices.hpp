// Facts that the user of an import knows, but the file does not contain.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::foreign {

/// NAME=TYPE, NAME=TYPE:4x6, NAME=TYPE:box or NAME=TYPE:rows.
struct TypeHint {
    Type type;
    enum class Form {
        any,    // the shape that fits the size for this type
        shape,  // exactly this shape
        box,    // each process holds a box of the horizontal grid, with some levels
        rows,   // each process holds rows, any number of them
    } form = Form::any;
    Extents shape;
};

struct Choices {
    std::map<std::string, TypeHint> wishes;  // by name
    bool cut_ghosts = false;                 // cut the outer ghost layers
};

/// `refused` if a text has none of the four forms.
Result<std::map<std::string, TypeHint>> wishes_of(const std::vector<std::string>& texts);

/// `refused` if a hint names an array that the file does not have.
Result<> check_wishes(const Choices& choices, const std::vector<std::string>& names, const std::string& file);

}  // namespace forebay::foreign
