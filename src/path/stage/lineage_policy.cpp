#include "path/stage/lineage_policy.hpp"

#include <algorithm>

namespace forebay::stage {

void LineagePolicy::chose(std::int64_t step, const std::vector<format::LineStart>& lines) {
    // The application reads this session's last save again: it left nothing.
    const bool is_last = !lines_.empty() && step == last_ && lines == lines_;
    if (is_last) chosen_.reset();
    else chosen_ = Chosen{step, lines};
}

void LineagePolicy::chose_nothing() { chosen_ = Chosen{}; }

std::vector<format::LineStart> LineagePolicy::lines_of(std::int64_t step) const {
    if (!chosen_ && !lines_.empty()) return lines_;
    auto lines = chosen_ ? chosen_->lines : lines_;
    const auto from = std::min(chosen_ ? chosen_->step : step - 1, step - 1);
    // A line that begins there or above is left completely.
    std::erase_if(lines, [from](const format::LineStart& start) { return start.from >= from; });
    const auto turn = lines_.empty() ? 0 : lines_.back().line.turn + 1;
    lines.push_back({{session_, turn}, from});
    // A snapshot remembers at most this number of starts, so the oldest start is forgotten.
    if (lines.size() > format::line_starts_max) lines.erase(lines.begin());
    return lines;
}

std::optional<bool> LineagePolicy::has_left(const format::Line& line, std::int64_t step) const {
    if (!chosen_ && lines_.empty()) return {};
    if (chosen_ && step > chosen_->step) return true;
    const auto& lines = chosen_ ? chosen_->lines : lines_;
    return std::ranges::any_of(lines, [&](const auto& start) { return format::abandons(start, line, step); });
}

void LineagePolicy::saved(std::int64_t step) {
    lines_ = lines_of(step);
    last_ = step;
    chosen_.reset();
}

}  // namespace forebay::stage
