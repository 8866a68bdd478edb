// Parameters of a request to the live page, checked: whatever a browser, or somebody else with the token, puts there.

#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "forebay/options.hpp"
#include "insight/report/page_answer.hpp"
#include "program/look/field_reader.hpp"

namespace forebay::cli {

/// A whole number of a range; absent, `otherwise`.
struct WholeRange {
    std::int64_t least = 0, most = 0;
};
Result<std::int64_t> whole_of(const report::PageQuery& query, const std::string& name, std::int64_t otherwise,
                              const WholeRange& range);
/// "" where it is absent.
std::string text_of(const report::PageQuery& query, const std::string& name);
/// `refused` where it is absent or empty.
Result<std::string> needed_text(const report::PageQuery& query, const std::string& name);

/// How a plane is drawn.
struct PlaneStyle {
    Palette palette = Palette::ember;
    bool log = false;
    double low = 0, high = 0;  // NaN: found
    int pixels = 512;
};
Result<PlaneStyle> plane_style_of(const report::PageQuery& query);
Result<PlaneRequest> plane_request_of(const report::PageQuery& query);

}  // namespace forebay::cli
