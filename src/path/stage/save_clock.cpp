#include "path/stage/save_clock.hpp"

#include <algorithm>

namespace forebay::stage {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

void SaveClock::add(format::TimingKind kind, microseconds end) {
    if (end <= end_) return;
    const bool is_new = count_ == 0 || pieces_[count_ - 1].kind != kind;
    if (is_new && count_ < pieces_.size()) pieces_[count_++] = {kind, end_, end};
    else pieces_[count_ - 1].end = end;
    end_ = end;
}

nanoseconds SaveClock::lap(format::TimingKind before, std::initializer_list<Part> parts, sys::Clock::time_point now) {
    const auto end = whole(now);
    const nanoseconds passed = std::max(end - end_, microseconds(0));
    nanoseconds later{0};  // the time after the current part
    for (const auto& part : parts) later += std::max(part.length, nanoseconds(0));
    const auto all = std::min(later, passed);
    add(before, end - std::chrono::duration_cast<microseconds>(all));
    for (const auto& part : parts) {
        later -= std::max(part.length, nanoseconds(0));
        add(part.kind, end - std::chrono::duration_cast<microseconds>(std::min(later, passed)));
    }
    return all;
}

}  // namespace forebay::stage
