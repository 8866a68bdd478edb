// Texts that are read again by their place, or one after the other: the first ones and the last ones in memory, all
// others in a spill file.
//
// Threads: one at a time.

#pragma once

#include <string>
#include <string_view>

#include "transfer/tables/spill_file.hpp"

namespace forebay::tree {

class SpillTexts {
public:
    /// `memory_bytes`: of the first ones.
    explicit SpillTexts(std::size_t memory_bytes = 0) : memory_bytes_(memory_bytes) {}

    /// Its place, which is never 0.
    Result<std::uint64_t> append(std::string_view text);
    Result<std::string> at(std::uint64_t place);
    /// Where the first one is, and the one behind `text`; as long as that is before end().
    std::uint64_t begin() const { return first_place; }
    static std::uint64_t behind(std::uint64_t place, std::string_view text) { return place + head_bytes + text.size(); }
    std::uint64_t end() const { return written_ + last_.size(); }

private:
    static constexpr std::uint64_t head_bytes = 4, first_place = 1;

    Result<> read(std::uint64_t place, std::span<std::byte> bytes);

    std::uint64_t held_end() const { return first_place + held_.size(); }

    const std::size_t memory_bytes_;
    SpillFile file_;
    std::string held_;
    std::uint64_t written_ = first_place;  // or held
    std::string last_;
};

}  // namespace forebay::tree
