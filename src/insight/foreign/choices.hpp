// What the person who imports a file knows and the file does not say.

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
        any,    // the shape that the size tells for this type
        shape,  // this one
        box,    // each process holds a box of the horizontal grid, with some levels
        rows,   // each process holds as many rows as it has
    } form = Form::any;
    Extents shape;
};

struct Choices {
    std::map<std::string, TypeHint> wishes;  // by name
    bool cut_ghosts = false;                 // leave the outer ghost layers out
};

/// `refused` for a text that is none of the four forms.
Result<std::map<std::string, TypeHint>> wishes_of(const std::vector<std::string>& texts);

/// `refused` when a wish names nothing that the file holds.
Result<> check_wishes(const Choices& choices, const std::vector<std::string>& names, const std::string& file);

}  // namespace forebay::foreign
