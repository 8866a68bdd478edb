// Texts that are read again by place, or in order: the first texts and the last texts in memory, the rest in a spill
// file.
//
// Threads: one at a time.

#pragma once

#include <string>
#include <string_view>

#include "transfer/tables/spill_file.hpp"

namespace forebay::tree {

class SpillTexts {
public:
    /// `memory_bytes` is the room for the first texts.
    explicit SpillTexts(std::size_t memory_bytes = 0) : memory_bytes_(memory_bytes) {}

    /// Returns the place of the text, which is never 0.
    Result<std::uint64_t> append(std::string_view text);
    Result<std::string> at(std::uint64_t place);
    /// Places for reading in order: the first text, and the text after `text`. Valid if less than end().
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
    std::uint64_t written_ = first_place;  // end of the file, or of held_
    std::string last_;
};

}  // namespace forebay::tree
