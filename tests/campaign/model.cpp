#include "campaign/model.hpp"

namespace forebay::campaign {

void Model::begin_line(std::int64_t step) {
    // What is left of a window is kept until the new line has as many of its own, and nobody counts on it.
    if (keep_ > 0)
        for (const auto& [at, value] : living())
            if (at > step) may_be_gone_.insert(value);
    lines_.push_back({step, {}});
}

void Model::save(std::int64_t step, std::int64_t value) {
    all_.insert(value);
    if (const auto now = living(); now.contains(step)) may_be_gone_.insert(now.at(step));  // replaced
    lines_.back().saved.emplace_back(step, value);
    count_window();
}

void Model::drop_last_line() {
    for (const auto& [step, value] : lines_.back().saved) may_be_gone_.insert(value);
    lines_.pop_back();
}

Values Model::living() const {
    Values now;
    for (const auto& line : lines_) {
        std::erase_if(now, [&](const auto& one) { return one.first > line.from; });
        for (const auto& [step, value] : line.saved) now[step] = value;
    }
    return now;
}

// The newest `keep` stay.
void Model::count_window() {
    if (keep_ == 0) return;
    const auto now = living();
    int counted = 0;
    for (auto at = now.rbegin(); at != now.rend(); ++at)
        if (++counted > keep_) may_be_gone_.insert(at->second);
}

}  // namespace forebay::campaign
