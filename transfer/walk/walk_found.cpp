#include "transfer/walk/walk_found.hpp"

#include <algorithm>
#include <array>

namespace forebay::tree {

namespace {

constexpr std::size_t link_numbers = 7;

// In the order of a message, after the counts of kinds.
template <class Found>
auto numbers_of(Found& totals) {
    return std::array{&totals.bytes,    &totals.allocated_bytes, &totals.further_names, &totals.with_holes,
                      &totals.released, &totals.largest_bytes,   &totals.deepest,       &totals.file_bytes};
}

}  // namespace

void WalkFound::add(std::uint64_t its_bytes, std::uint64_t its_allocated_bytes, bool is_file) {
    bytes += its_bytes;
    allocated_bytes += its_allocated_bytes;
    if (!is_file) return;
    file_bytes += its_bytes;
    largest_bytes = std::max(largest_bytes, its_bytes);
    if (its_allocated_bytes < its_bytes) ++with_holes;
}

void WalkFound::add(const WalkFound& other) {
    for (std::size_t kind = 0; kind < of_kind.size(); ++kind) of_kind[kind] += other.of_kind[kind];
    bytes += other.bytes;
    allocated_bytes += other.allocated_bytes;
    file_bytes += other.file_bytes;
    further_names += other.further_names;
    with_holes += other.with_holes;
    released += other.released;
    largest_bytes = std::max(largest_bytes, other.largest_bytes);
    deepest = std::max(deepest, other.deepest);
    for (const auto& [id, link] : other.links) {
        auto& own = links[id];
        const auto seen = own.seen + link.seen;
        own = link;
        own.seen = seen;
    }
}

void WalkFound::write(TeamMessage& message) const {
    message.numbers.assign(of_kind.begin(), of_kind.end());
    for (const auto* number : numbers_of(*this)) message.numbers.push_back(*number);
    for (const auto& [id, link] : links)
        for (const auto number : {id.device, id.number, link.seen, link.names, link.bytes, link.allocated_bytes,
                                  std::uint64_t{link.is_file}})
            message.numbers.push_back(number);
}

bool WalkFound::read(const TeamMessage& message) {
    const auto& numbers = message.numbers;
    const auto own = numbers_of(*this);
    const auto found_numbers = of_kind.size() + own.size();
    if (numbers.size() < found_numbers || (numbers.size() - found_numbers) % link_numbers != 0) return false;
    std::copy_n(numbers.begin(), of_kind.size(), of_kind.begin());
    auto at = of_kind.size();
    for (auto* number : own) *number = numbers[at++];
    for (; at < numbers.size(); at += link_numbers)
        links[{numbers[at], numbers[at + 1]}] = {.seen = numbers[at + 2],
                                                 .names = numbers[at + 3],
                                                 .bytes = numbers[at + 4],
                                                 .allocated_bytes = numbers[at + 5],
                                                 .is_file = numbers[at + 6] != 0};
    return true;
}

}  // namespace forebay::tree
