// Marks: why a snapshot is not to be trusted. They stand in its manifest, and each in a file beside that, which comes
// first. Bytes: docs/formats/manifest.md.

#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::format {

/// A condition of an analysis that the snapshot fulfils, or what a person says of it.
struct Mark {
    std::string analysis;   // "numbers"; empty: a person
    std::string condition;  // "*/nan > 0", or what the person says
    std::string result;     // that fulfils it, "theta/nan"; empty: none
    double value = 0;       // of that
    /// Two values that are not a number are the same here.
    friend bool operator==(const Mark& a, const Mark& b) {
        return a.analysis == b.analysis && a.condition == b.condition && a.result == b.result &&
               (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
    }
};

/// Of a snapshot, and of each text of a mark.
inline constexpr std::size_t marks_max = 64, mark_text_bytes_max = 1024;

/// "numbers: */nan > 0 (theta/nan is 3)", or what the person says.
std::string words_of(const Mark& mark);

/// A mark as a file of its own. `refused` for a text that is none, or too long.
Result<std::string> encode_mark(const Mark& mark);
/// `corrupt` for damage, `unsupported` for a newer version; `name` is for texts.
Result<Mark> decode_mark(std::string_view text, const std::string& name);

}  // namespace forebay::format
