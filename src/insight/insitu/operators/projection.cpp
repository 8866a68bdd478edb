// The sum of an array along one dimension, as f64. It uses binned sums (binned_sums.hpp gives their error), so blocks,
// nodes and their order do not change the bits. Elements that no block holds add nothing; the attribute "missing"
// counts them. A sum with a NaN is NaN.
//
// Part: the count of elements, and patches of sums.

#include <fmt/format.h>

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

constexpr std::size_t batch_values = 1024;  // read at once: as doubles they stay in the first cache

class Projection final : public Analyser {
public:
    Projection(const Analysis& analysis, const Variable& variable, const RealNumbers& numbers)
        : analysis_(analysis),
          variable_(variable),
          numbers_(numbers),
          plane_(without(variable.shape, analysis.axis)),
          patches_(plane_, BinnedSums::bins_of(variable.type), false) {}

    void take(const Elements& piece) override {
        const int axis = analysis_.axis;
        const Box cells{without(piece.box.lo, axis), without(piece.box.size, axis)};
        auto& sums = patches_.patch_of(cells).sums;
        std::array<double, batch_values> values{};
        for_each_line(piece, [&](const ArrayLine& line) {
            auto at = without(line.at, axis);
            for (int dim = 0; dim < at.dims(); ++dim) at[dim] -= cells.lo[dim];
            const auto first = place_in(cells.size, at);
            for (std::uint64_t done = 0; done < line.count; done += batch_values) {
                const auto batch = std::span(values).first(std::min(batch_values, line.count - done));
                numbers_.take_doubles(piece.columns.front(), line.first + done, batch);
                // Along the last dimension a whole line belongs to one sum.
                if (axis == variable_.shape.dims() - 1) sums.add_all(first, batch);
                else sums.add_each(first + done, batch);
            }
        });
        seen_ += piece.count;
    }

    std::vector<std::byte> part() const override {
        PartWriter to;
        to.number<std::uint64_t>(seen_);
        patches_.write(to);
        return std::move(to).take();
    }

    Result<> merge(std::span<const std::byte> part) override {
        const auto name = "a part of the projection of '" + variable_.name + "'";
        PartReader from(part, name);
        const auto seen = from.number<std::uint64_t>();
        // A node cannot have seen more than the rest of the array.
        if (seen > variable_.elements() - seen_) return Error{ErrorKind::corrupt, name + " is damaged"};
        FB_TRY(patches_.merge(from, name));
        seen_ += seen;
        return {};
    }

    Result<Made> make(const Moment& moment) override {
        const auto whole = std::move(patches_).whole();
        std::vector<double> sums(whole.sums.count());
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = whole.sums.value(i);
        auto attributes = units_of(variable_);
        attributes.others.emplace_back("axis", static_cast<std::int64_t>(analysis_.axis));
        note_missing(attributes, variable_.elements() - seen_);
        note_sides(attributes, analysis_, variable_, analysis_.axis);
        note_palette(attributes, analysis_);
        Made results;
        results.variables.push_back(found_list<double>(variable_.name + "/sum", plane_, sums, attributes));
        if (!analysis_.picture) return results;
        const PlaneWords words{
            "", fmt::format("sum of {} along {}", variable_.name, dimension_name(variable_, analysis_.axis))};
        FB_TRY_ASSIGN(picture,
                      draw_plane_of(analysis_, variable_, analysis_.axis, {sums.begin(), sums.end()}, words, moment));
        results.pictures.push_back(std::move(picture));
        return results;
    }

private:
    const Analysis analysis_;
    const Variable variable_;
    const RealNumbers numbers_;
    const Extents plane_;
    SumPatches patches_;
    std::uint64_t seen_ = 0;  // elements seen
};

}  // namespace

Result<std::unique_ptr<Analyser>> make_projection(const Analysis& analysis, std::span<const Variable> variables) {
    FB_TRY(check_array(variables, 2, "projected"));
    const auto& variable = variables.front();
    FB_TRY(check_axis(variable, analysis.axis));
    FB_TRY_ASSIGN(numbers, RealNumbers::of(variable));
    if (variable.shape[analysis.axis] > BinnedSums::terms_max)
        return Error{ErrorKind::refused,
                     fmt::format("variable '{}' of shape {} is too long for a projection: the limit is {} elements",
                                 variable.name, show_shape(variable.shape), BinnedSums::terms_max)};
    if (analysis.picture) FB_TRY(check_drawable(variable, without(variable.shape, analysis.axis)));
    return std::unique_ptr<Analyser>(std::make_unique<Projection>(analysis, variable, numbers));
}

}  // namespace forebay::insitu
