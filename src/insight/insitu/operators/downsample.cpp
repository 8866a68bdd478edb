// Means of boxes of `factor` elements along each dimension; boxes at the upper edges may be smaller. Binned sums
// (binned_sums.hpp) are divided by the count of elements present, so blocks, nodes and their order do not change the
// bits. A box without elements is NaN. The attribute "missing" counts elements that no block holds.
//
// Part: patches of sums, with counts.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/numbers.hpp"
#include "insight/insitu/operators/lines.hpp"
#include "insight/insitu/operators/makers.hpp"
#include "insight/insitu/operators/plane.hpp"
#include "insight/insitu/operators/sum_patches.hpp"

namespace forebay::insitu {

namespace {

Extents divided_up(const Extents& shape, std::uint64_t factor) {
    Extents cells;
    for (int dim = 0; dim < shape.dims(); ++dim) cells.push_back((shape[dim] - 1) / factor + 1);
    return cells;
}

class Downsample final : public Analyser {
public:
    Downsample(std::uint64_t factor, const Variable& variable, const RealNumbers& numbers)
        : factor_(factor),
          variable_(variable),
          numbers_(numbers),
          cells_(divided_up(variable.shape, factor)),
          patches_(cells_, BinnedSums::bins_of(variable.type), true) {}

    void take(const Elements& piece) override {
        Box cells;
        for (int dim = 0; dim < piece.box.lo.dims(); ++dim) {
            const auto low = piece.box.lo[dim] / factor_;
            cells.lo.push_back(low);
            cells.size.push_back((piece.box.lo[dim] + piece.box.size[dim] - 1) / factor_ + 1 - low);
        }
        auto& patch = patches_.patch_of(cells);
        for_each_line(piece, [&](const ArrayLine& line) {
            Extents at;
            for (int dim = 0; dim < line.at.dims(); ++dim) at.push_back(line.at[dim] / factor_ - cells.lo[dim]);
            values_.resize(line.count);
            numbers_.take_doubles(piece.columns.front(), line.first, values_);
            add_line(patch, place_in(cells.size, at), line.at[line.at.dims() - 1] % factor_);
        });
    }

    std::vector<std::byte> part() const override {
        PartWriter to;
        patches_.write(to);
        return std::move(to).take();
    }

    Result<> merge(std::span<const std::byte> part) override {
        const auto name = "a part of the means of '" + variable_.name + "'";
        PartReader from(part, name);
        return patches_.merge(from, name);
    }

    Result<Made> make(const Moment&) override {
        const auto whole = std::move(patches_).whole();
        std::vector<double> means(whole.counts.size());
        for (std::size_t i = 0; i < means.size(); ++i) means[i] = whole.sums.value(i) / whole.counts[i];
        const auto seen = std::accumulate(whole.counts.begin(), whole.counts.end(), std::uint64_t{0});
        // Damaged parts may count too much; the difference below must not wrap around.
        if (seen > variable_.elements())
            return Error{ErrorKind::corrupt, "parts of the means of '" + variable_.name + "' have too many elements"};
        auto attributes = units_of(variable_);
        attributes.others.emplace_back("factor", static_cast<std::int64_t>(factor_));
        note_missing(attributes, variable_.elements() - seen);
        Made results;
        // Means keep the precision of their variable.
        if (variable_.type == f32 || variable_.type == f16) {
            const std::vector<float> singles(means.begin(), means.end());
            results.variables.push_back(found_list<float>(variable_.name + "/mean", cells_, singles, attributes));
        } else {
            results.variables.push_back(found_list<double>(variable_.name + "/mean", cells_, means, attributes));
        }
        return results;
    }

private:
    /// Adds `values_`, a line. The first value is element `phase` of its cell. Values at the same position in their
    /// cells are added together, one to each cell.
    void add_line(SumPatch& patch, std::size_t first_cell, std::uint64_t phase) {
        const std::size_t count = values_.size();
        for (std::uint64_t step = 0; step < std::min<std::uint64_t>(factor_, count); ++step) {
            const auto first = first_cell + static_cast<std::size_t>((phase + step) / factor_);
            patch.sums.add_each(first, std::span(values_).subspan(step), factor_);
        }
        const auto cells = static_cast<std::size_t>((phase + count - 1) / factor_ + 1);
        const auto counts = std::span(patch.counts).subspan(first_cell, cells);
        // Each cell gets `factor_` terms; the first and the last cell of the line may have fewer.
        for (auto& terms : counts) terms += static_cast<std::uint32_t>(factor_);
        counts.front() -= static_cast<std::uint32_t>(phase);
        counts.back() -= static_cast<std::uint32_t>(cells * factor_ - phase - count);
    }

    const std::uint64_t factor_;
    const Variable variable_;
    const RealNumbers numbers_;
    const Extents cells_;
    SumPatches patches_;
    std::vector<double> values_;  // of a line; kept to reuse the memory
};

}  // namespace

Result<std::unique_ptr<Analyser>> make_downsample(const Analysis& analysis, std::span<const Variable> variables) {
    FB_TRY(check_array(variables, 1, "made smaller"));
    const auto& variable = variables.front();
    FB_TRY_ASSIGN(numbers, RealNumbers::of(variable));
    if (analysis.factor < 1)
        return Error{ErrorKind::refused,
                     fmt::format("analysis '{}' has factor {}: it must be 1 or more", analysis.name, analysis.factor)};
    const auto factor = static_cast<std::uint64_t>(analysis.factor);
    std::uint64_t terms = 1;
    for (int dim = 0; dim < variable.shape.dims() && terms <= BinnedSums::terms_max; ++dim)
        terms *= std::min(factor, variable.shape[dim]);
    if (terms > BinnedSums::terms_max)
        return Error{ErrorKind::refused,
                     fmt::format("factor {} makes boxes of more than {} elements of variable '{}' of shape {}", factor,
                                 BinnedSums::terms_max, variable.name, show_shape(variable.shape))};
    return std::unique_ptr<Analyser>(std::make_unique<Downsample>(factor, variable, numbers));
}

}  // namespace forebay::insitu
