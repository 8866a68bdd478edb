// Marks: reasons not to trust a snapshot. They are in its manifest, and each mark also has a file beside the manifest,
// which is written first. Bytes: docs/formats/manifest.md.

#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::format {

/// A fulfilled condition of an analysis, or the words of a person.
struct Mark {
    std::string analysis;   // "numbers"; empty: a person
    std::string condition;  // "*/nan > 0", or the words of a person
    std::string result;     // the result that fulfils it, "theta/nan"; empty: none
    double value = 0;       // the value of that result
    /// Here two NaN count as equal.
    friend bool operator==(const Mark& a, const Mark& b) {
        return a.analysis == b.analysis && a.condition == b.condition && a.result == b.result &&
               (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
    }
};

/// The most marks of a snapshot, and the most bytes of each text.
inline constexpr std::size_t marks_max = 64, mark_text_bytes_max = 1024;

/// Returns "numbers: */nan > 0 (theta/nan is 3)", or the words of a person.
std::string words_of(const Mark& mark);

/// Encodes the content of a mark's file. `refused` for a text that is empty, invalid or too long.
Result<std::string> encode_mark(const Mark& mark);
/// `corrupt` for damage, `unsupported` for a newer version. `name` goes into the error.
Result<Mark> decode_mark(std::string_view text, const std::string& name);

}  // namespace forebay::format
