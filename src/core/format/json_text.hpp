// JSON for node files and manifests, so that equal values give equal bytes: no spaces, shortest digits, and strings for
// numbers that JSON does not have. json_read.hpp reads it.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "forebay/describe.hpp"

namespace forebay::format::json {

/// Returns true if JSON and HDF5 can hold the text: UTF-8 without NUL.
bool is_text(std::string_view text);

void put_text(std::string& out, std::string_view text);
/// Adds a JSON number that reads back bit for bit, or a string "nan", "inf" or "-inf".
void put_f64(std::string& out, double value);
void put_i64(std::string& out, std::int64_t value);
void put_u64(std::string& out, std::uint64_t value);
/// Adds "[3,4]".
void put_extents(std::string& out, const Extents& extents);

}  // namespace forebay::format::json
