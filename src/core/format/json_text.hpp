// JSON as node files and manifests spell it, so that equal values give equal bytes: no spaces, shortest digits,
// numbers that JSON cannot say as strings. Reading goes through nlohmann-json.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "forebay/describe.hpp"

namespace forebay::format::json {

/// Whether JSON and HDF5 can hold the text: UTF-8 without NUL.
bool is_text(std::string_view text);

void put_text(std::string& out, std::string_view text);
/// A JSON number that reads back bit for bit; "nan", "inf" and "-inf" as strings.
void put_f64(std::string& out, double value);
void put_i64(std::string& out, std::int64_t value);
void put_u64(std::string& out, std::uint64_t value);
/// "[3,4]".
void put_extents(std::string& out, const Extents& extents);

}  // namespace forebay::format::json
