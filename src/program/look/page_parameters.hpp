// Checks parameters of a request to the live page. They may come from anybody with the token.

#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "forebay/options.hpp"
#include "insight/report/page_answer.hpp"
#include "program/look/field_reader.hpp"

namespace forebay::cli {

/// A whole number within a range; `otherwise` if absent.
struct WholeRange {
    std::int64_t least = 0, most = 0;
};
Result<std::int64_t> whole_of(const report::PageQuery& query, const std::string& name, std::int64_t otherwise,
                              const WholeRange& range);
/// "" if absent.
std::string text_of(const report::PageQuery& query, const std::string& name);
/// Returns `refused` if absent or empty.
Result<std::string> needed_text(const report::PageQuery& query, const std::string& name);

/// How to draw a plane.
struct PlaneStyle {
    Palette palette = Palette::ember;
    bool log = false;
    double low = 0, high = 0;  // NaN: from the data
    int pixels = 512;
};
Result<PlaneStyle> plane_style_of(const report::PageQuery& query);
Result<PlaneRequest> plane_request_of(const report::PageQuery& query);

}  // namespace forebay::cli
