#include "bindings/api/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

namespace forebay {

namespace {

using Action = Analysis::Action;

// Another node reports the same condition at most seconds later, so a few are enough.
constexpr std::size_t given_max = 64;

// A request to end includes a save, so it comes before a save. A condition that only informs comes last.
std::int64_t urgency_of(const node::Flagged& flagged) {
    if ((flagged.actions & node::bit_of(Action::stop)) != 0) return 3;
    return (flagged.actions & node::bit_of(Action::save)) != 0 ? 2 : 1;
}

std::string_view next_part(std::string_view& rest) {
    const auto part = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
}

template <class Number>
void take_number(std::string_view& rest, Number& number) {
    const auto part = next_part(rest);
    std::from_chars(part.data(), part.data() + part.size(), number);
}

}  // namespace

void Conditions::take(node::Control& page) { take(node::take_flagged(page)); }

void Conditions::take(std::vector<node::Flagged> kept) {
    for (auto& flagged : kept)
        if (std::ranges::none_of(given_, [&](const Given& condition) {
                return condition.snapshot_id == flagged.snapshot_id && condition.text == flagged.text &&
                       condition.urgency >= urgency_of(flagged);
            }))
            waiting_.push_back(std::move(flagged));
    while (waiting_.size() > conditions_waiting_max)
        waiting_.erase(std::ranges::min_element(waiting_, {}, urgency_of));  // the earliest of the least urgent
}

std::int64_t Conditions::urgency(int rank, const HasLeft& has_left) {
    std::erase_if(waiting_, [&](const auto& flagged) { return has_left(flagged).value_or(false); });
    most_urgent_.reset();
    for (std::size_t i = 0; i < waiting_.size(); ++i)
        if (has_left(waiting_[i]) && (!most_urgent_ || urgency_of(waiting_[i]) > urgency_of(waiting_[*most_urgent_])))
            most_urgent_ = i;
    // The rank is in the low bits, so that the maximum selects one rank if several are equally urgent.
    return most_urgent_ ? urgency_of(waiting_[*most_urgent_]) << 32 | rank : -1;
}

std::string Conditions::text() const {
    const auto& condition = waiting_[*most_urgent_];
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", condition.step, condition.snapshot_id, condition.actions,
                       std::bit_cast<std::uint64_t>(condition.value), condition.stream, condition.text);
}

node::Flagged Conditions::given(const std::string& text) {
    node::Flagged flagged;
    std::string_view rest = text;
    std::uint64_t value = 0;
    take_number(rest, flagged.step);
    take_number(rest, flagged.snapshot_id);
    take_number(rest, flagged.actions);
    take_number(rest, value);
    flagged.value = std::bit_cast<double>(value);
    flagged.stream = next_part(rest);
    flagged.text = rest;
    std::erase_if(waiting_, [&](const auto& other) {
        return other.snapshot_id == flagged.snapshot_id && other.text == flagged.text;
    });
    given_.push_back({flagged.snapshot_id, flagged.text, urgency_of(flagged)});
    if (given_.size() > given_max) given_.erase(given_.begin());
    return flagged;
}

}  // namespace forebay
