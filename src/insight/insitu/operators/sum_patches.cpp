#include "insight/insitu/operators/sum_patches.hpp"

#include <utility>

#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "insight/insitu/operators/lines.hpp"

namespace forebay::insitu {

SumPatches::Key SumPatches::key_of(const Box& cells) {
    Key key{};
    for (int dim = 0; dim < cells.lo.dims(); ++dim) {
        key[static_cast<std::size_t>(dim)] = cells.lo[dim];
        key[static_cast<std::size_t>(dims_max + dim)] = cells.size[dim];
    }
    return key;
}

Box SumPatches::box_of(const Key& key) const {
    Box cells;
    for (int dim = 0; dim < shape_.dims(); ++dim) {
        cells.lo.push_back(key[static_cast<std::size_t>(dim)]);
        cells.size.push_back(key[static_cast<std::size_t>(dims_max + dim)]);
    }
    return cells;
}

SumPatch& SumPatches::patch_of(const Box& cells) {
    const auto key = key_of(cells);
    const auto known = patches_.find(key);
    if (known != patches_.end()) return known->second;
    const auto count = static_cast<std::size_t>(volume(cells.size));
    return patches_.emplace(key, SumPatch{{count, bins_}, std::vector<std::uint32_t>(counted_ ? count : 0)})
        .first->second;
}

void SumPatches::write(PartWriter& to) const {
    to.number<std::uint64_t>(patches_.size());
    for (const auto& [key, patch] : patches_) {
        to.numbers<std::uint64_t>(key);
        patch.sums.write(to);
        to.numbers<std::uint32_t>(patch.counts);
    }
}

void SumPatches::add(const Box& cells, SumPatch&& patch) {
    const auto key = key_of(cells);
    const auto known = patches_.find(key);
    if (known == patches_.end()) {
        patches_.emplace(key, std::move(patch));
        return;
    }
    auto& [sums, counts] = known->second;
    for (std::size_t i = 0; i < sums.count(); ++i) sums.add_sum(i, patch.sums, i);
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += patch.counts[i];
}

Result<> SumPatches::merge(PartReader& from, const std::string& name) {
    const Error damaged{ErrorKind::corrupt, name + " is damaged"};
    const auto patches = from.number<std::uint64_t>();
    for (std::uint64_t i = 0; i < patches; ++i) {
        const auto numbers = from.numbers<std::uint64_t>(Key{}.size());
        Key key{};
        if (numbers.size() != key.size()) return damaged;
        std::ranges::copy(numbers, key.begin());
        const auto cells = box_of(key);
        // The key's unused places must be 0.
        if (key_of(cells) != key || !inside(cells, shape_)) return damaged;
        const auto count = static_cast<std::size_t>(volume(cells.size));
        if (count == 0) return damaged;
        SumPatch patch{{0, bins_}, {}};
        if (!patch.sums.read(from, count)) return damaged;
        patch.counts = from.numbers<std::uint32_t>(count);
        if (patch.counts.size() != (counted_ ? count : 0)) return damaged;
        add(cells, std::move(patch));
    }
    return from.done();
}

SumPatch SumPatches::whole() && {
    // A single patch of the whole shape needs no copy.
    const auto count = static_cast<std::size_t>(volume(shape_));
    if (patches_.size() == 1 && volume(box_of(patches_.begin()->first).size) == count)
        return std::move(patches_.begin()->second);
    SumPatch all{{count, bins_}, std::vector<std::uint32_t>(counted_ ? count : 0)};
    for (const auto& [key, patch] : patches_) {
        const auto cells = box_of(key);
        const auto row = [&, &patch = patch](const Extents& at, std::size_t first, std::size_t columns) {
            const auto place = static_cast<std::size_t>(place_in(shape_, at));
            for (std::size_t i = 0; i < columns; ++i) {
                all.sums.add_sum(place + i, patch.sums, first + i);
                if (counted_) all.counts[place + i] += patch.counts[first + i];
            }
        };
        // A result without dimensions has no lines.
        if (shape_.dims() == 0) row({}, 0, 1);
        else
            for_each_line(Elements{{}, 0, volume(cells.size), cells},
                          [&](const ArrayLine& line) { row(line.at, line.first, line.count); });
    }
    return all;
}

}  // namespace forebay::insitu
