#include "insight/foreign/palm_fortran/shape.hpp"

#include <algorithm>
#include <utility>

#include "insight/foreign/limits.hpp"

namespace forebay::foreign {

namespace {

std::uint64_t cells_of(const PalmProcess& process, std::uint64_t around) {
    return (process.points_x() + 2 * around) * (process.points_y() + 2 * around);
}

// Sizes are divided, never multiplied: a damaged file may claim any number of points.
bool has_levels(std::uint64_t bytes, std::uint64_t cells, std::uint64_t element_bytes, std::uint64_t levels) {
    return bytes % element_bytes == 0 && bytes / element_bytes % cells == 0 && bytes / element_bytes / cells == levels;
}

bool all_have(std::span<const PalmProcess> processes, const PalmItem& item, std::uint64_t around,
              std::uint64_t element_bytes, std::uint64_t levels) {
    for (std::size_t p = 0; p < processes.size(); ++p)
        if (item.records[p] != nullptr &&
            !has_levels(item.records[p]->bytes, cells_of(processes[p], around), element_bytes, levels))
            return false;
    return true;
}

}  // namespace

std::uint64_t find_ghost_layers(std::span<const PalmProcess> processes, std::span<const PalmItem> items) {
    constexpr std::uint64_t usual = 3;
    std::pair<std::size_t, std::size_t> best{0, 0};
    std::uint64_t layers = usual;
    const auto try_one = [&](std::uint64_t around) {
        const auto names_with = [&](std::uint64_t levels) {
            return static_cast<std::size_t>(std::ranges::count_if(items, [&](const PalmItem& item) {
                return all_have(processes, item, around, f64.size_bytes, levels);
            }));
        };
        const std::pair candidate{names_with(processes.front().levels()), names_with(1)};
        if (candidate > best) {
            best = candidate;
            layers = around;
        }
    };
    // The usual number comes first, so it wins among equals.
    try_one(usual);
    for (std::uint64_t around = 0; around <= limits::ghost_layers_max; ++around) try_one(around);
    return layers;
}

std::optional<PalmBox> find_box(std::span<const PalmProcess> processes, const PalmItem& item,
                                std::uint64_t ghost_layers, std::optional<Type> wanted) {
    const auto all_levels = processes.front().levels();
    const auto try_one = [&](Type type, bool ghosts, std::uint64_t levels,
                             const char* reason) -> std::optional<PalmBox> {
        if (!all_have(processes, item, ghosts ? ghost_layers : 0, type.size_bytes, levels)) return std::nullopt;
        return PalmBox{type, ghosts && ghost_layers > 0, levels, reason};
    };
    // Reals without ghost layers are not tried: surface data with one surface in each column have the same size.
    const std::vector<std::pair<Type, bool>> usual{{f64, true}, {i32, true}, {i32, false}};
    const auto forms = wanted ? std::vector<std::pair<Type, bool>>{{*wanted, true}, {*wanted, false}} : usual;
    for (const auto& [type, ghosts] : forms)
        for (const auto levels : {all_levels, std::uint64_t{1}})
            if (const auto box = try_one(type, ghosts, levels, "size")) return box;
    const auto first = std::ranges::find_if(item.records, [](const auto* record) { return record != nullptr; });
    if (first == item.records.end()) return std::nullopt;
    const auto& process = processes[static_cast<std::size_t>(first - item.records.begin())];
    for (const auto& [type, ghosts] : forms) {
        if (!wanted && type != f64) continue;
        const auto levels = (*first)->bytes / type.size_bytes / cells_of(process, ghosts ? ghost_layers : 0);
        if (levels < 2) continue;
        if (const auto box = try_one(type, ghosts, levels, "size: levels of its own")) return box;
    }
    return std::nullopt;
}

}  // namespace forebay::foreign
