// For tests of operators over arrays: cuts a global array into blocks, deals the blocks to nodes, and feeds the
// analysers pieces at unaligned addresses. The parts merge in random order.

#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "core/describe/geometry.hpp"
#include "insight/insitu/operators/lines.hpp"
#include "insight/insitu/operators/makers.hpp"

namespace forebay::insitu {

class CutWorld {
public:
    /// `bytes` is the whole array, row-major.
    CutWorld(const Variable& variable, std::vector<std::byte> bytes) : variable_(variable), bytes_(std::move(bytes)) {}

    /// Cuts the array by `cuts` random planes. Without cuts it is a single block.
    std::vector<Box> blocks(int cuts, std::mt19937_64& random) const {
        Box whole;
        for (int dim = 0; dim < variable_.shape.dims(); ++dim) {
            whole.lo.push_back(0);
            whole.size.push_back(variable_.shape[dim]);
        }
        std::vector<Box> boxes{whole};
        for (int cut = 0; cut < cuts; ++cut) {
            const auto which = random() % boxes.size();
            const int dim = static_cast<int>(random() % static_cast<std::uint64_t>(whole.lo.dims()));
            if (boxes[which].size[dim] < 2) continue;
            const auto at = 1 + random() % (boxes[which].size[dim] - 1);
            auto upper = boxes[which];
            upper.lo[dim] += at;
            upper.size[dim] -= at;
            boxes[which].size[dim] = at;
            boxes.push_back(upper);
        }
        std::ranges::shuffle(boxes, random);
        return boxes;
    }

    /// Feeds the block in pieces of random length and order.
    void give(Analyser& to, const Box& block, std::mt19937_64& random) const {
        const auto count = volume(block.size);
        std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;
        for (std::uint64_t first = 0; first < count;) {
            const auto length = std::min(count - first, 1 + random() % (random() % 3 == 0 ? count : 37));
            pieces.emplace_back(first, length);
            first += length;
        }
        std::ranges::shuffle(pieces, random);
        const auto packed_block = bytes_of_block(block);
        const auto size = variable_.type.size_bytes;
        for (const auto& [first, length] : pieces) {
            // The copy starts at an odd address and ends where its memory ends.
            std::vector<std::byte> odd(1 + length * size);
            std::memcpy(odd.data() + 1, packed_block.data() + first * size, length * size);
            const std::vector<std::span<const std::byte>> columns{std::span(odd).subspan(1)};
            to.take(Elements{columns, first, length, block});
        }
    }

    std::vector<std::byte> bytes_of_block(const Box& block) const {
        const auto size = variable_.type.size_bytes;
        std::vector<std::byte> packed_block(volume(block.size) * size);
        for_each_line(Elements{{}, 0, volume(block.size), block}, [&](const ArrayLine& line) {
            std::memcpy(packed_block.data() + line.first * size,
                        bytes_.data() + place_in(variable_.shape, line.at) * size, line.count * size);
        });
        return packed_block;
    }

    /// The result of `boxes` dealt to `nodes` nodes.
    Result<Made> made(const Analysis& analysis, const std::vector<Box>& boxes, std::size_t nodes,
                      std::mt19937_64& random) const {
        std::vector<std::unique_ptr<Analyser>> analysers;
        for (std::size_t node = 0; node < nodes; ++node)
            analysers.push_back(make_analyser(analysis, {&variable_, 1}).value());
        for (const auto& box : boxes) give(*analysers[random() % nodes], box, random);
        if (nodes == 1) return analysers.front()->make({120, 3.5});
        std::ranges::shuffle(analysers, random);
        const auto whole = make_analyser(analysis, {&variable_, 1}).value();
        for (const auto& analyser : analysers) {
            const auto merged = whole->merge(analyser->part());
            if (!merged) return merged.error();
        }
        return whole->make({120, 3.5});
    }

private:
    Variable variable_;
    std::vector<std::byte> bytes_;
};

/// Merges every beginning of the part, then parts with changed bytes. The analyser may refuse or accept them, but must
/// not end the process. It must refuse changed parts that claim a count of everything. Returns the number of accepted
/// beginnings.
inline std::size_t taken_beginnings(const Analysis& analysis, const Variable& variable,
                                    const std::vector<std::byte>& part, std::mt19937_64& random) {
    std::size_t taken = 0;
    for (std::size_t length = 0; length < part.size(); ++length) {
        const auto fresh = make_analyser(analysis, {&variable, 1}).value();
        taken += fresh->merge(std::span(part).first(length)).has_value();
    }
    for (int trial = 0; trial < 500; ++trial) {
        auto damaged = part;
        const auto changes = 1 + random() % 3;
        for (std::uint64_t change = 0; change < changes; ++change) {
            const auto at = random() % damaged.size();
            damaged[at] = random() % 2 == 0 ? std::byte{0xFF} : static_cast<std::byte>(random());
            if (random() % 2 == 0 && at + 8 <= damaged.size()) std::memset(damaged.data() + at, 0xFF, 8);
        }
        const auto fresh = make_analyser(analysis, {&variable, 1}).value();
        if (fresh->merge(damaged)) static_cast<void>(fresh->make({}));
    }
    return taken;
}

template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

template <class T>
std::vector<T> values_of(const FoundVariable& variable) {
    std::vector<T> values(variable.bytes.size() / sizeof(T));
    std::memcpy(values.data(), variable.bytes.data(), values.size() * sizeof(T));
    return values;
}

}  // namespace forebay::insitu
