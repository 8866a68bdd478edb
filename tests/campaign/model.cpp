#include "campaign/model.hpp"

namespace forebay::campaign {

void Model::begin_line(std::int64_t step, bool removes) {
    Line line{.from = step, .saved = {}, .left = {}};
    for (const auto& [at, value] : living()) {
        if (at <= step) continue;
        if (removes) may_be_gone_.insert(value);
        line.left.push_back(value);
    }
    lines_.push_back(std::move(line));
}

void Model::save(std::int64_t step, std::int64_t value) {
    all_.insert(value);
    if (const auto now = living(); now.contains(step)) may_be_gone_.insert(now.at(step));  // the save replaces it
    lines_.back().saved.emplace_back(step, value);
    count_window();
}

// The number of living saves of a line and all later lines.
std::size_t Model::living_since(std::size_t line) const {
    const auto now = living();
    std::size_t count = 0;
    for (; line < lines_.size(); ++line)
        for (const auto& [step, value] : lines_[line].saved)
            count += now.contains(step) && now.at(step) == value ? 1 : 0;
    return count;
}

std::set<std::int64_t> Model::left() const {
    std::set<std::int64_t> values;
    for (const auto& line : lines_)
        for (const auto value : line.left)
            if (!may_be_gone_.contains(value)) values.insert(value);
    return values;
}

void Model::drop_last_line() {
    for (const auto& [step, value] : lines_.back().saved) may_be_gone_.insert(value);
    lines_.pop_back();
}

Values Model::living() const {
    Values now;
    for (const auto& line : lines_) {
        std::erase_if(now, [&](const auto& entry) { return entry.first > line.from; });
        for (const auto& [step, value] : line.saved) now[step] = value;
    }
    return now;
}

// Retention may remove all but the newest `keep` saves.
void Model::count_window() {
    if (keep_ == 0) return;
    const auto now = living();
    int counted = 0;
    for (auto at = now.rbegin(); at != now.rend(); ++at)
        if (++counted > keep_) may_be_gone_.insert(at->second);
    for (std::size_t line = 0; line < lines_.size(); ++line)
        if (living_since(line) >= static_cast<std::size_t>(keep_))
            may_be_gone_.insert(lines_[line].left.begin(), lines_[line].left.end());
}

}  // namespace forebay::campaign
