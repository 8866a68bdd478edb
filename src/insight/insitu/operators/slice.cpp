// A plane of an array, kept as runs of neighbours in the plane. A node stores only the runs of its blocks.
//
// An array of two dimensions is its own plane, and `axis` and `at` are ignored. Elements that no block holds are NaN,
// or 0 or blank if the type has no NaN; the attribute "missing" counts them.
//
// Part: the size of an element; the start of each run in the plane; the count of elements of each run; their bytes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/numbers.hpp"
#include "insight/insitu/operators/lines.hpp"
#include "insight/insitu/operators/makers.hpp"
#include "insight/insitu/operators/nothing.hpp"
#include "insight/insitu/operators/plane.hpp"
#include "insight/insitu/part_bytes.hpp"

namespace forebay::insitu {

namespace {

class Slice final : public Analyser {
public:
    /// `axis` -1: the whole array.
    Slice(const Analysis& analysis, const Variable& variable, int axis, std::uint64_t at)
        : analysis_(analysis), variable_(variable), axis_(axis), at_(at), plane_(without(variable.shape, axis)) {}

    void take(const Elements& piece) override {
        const auto from = piece.columns.front();
        const int last = variable_.shape.dims() - 1;
        const auto size = variable_.type.size_bytes;
        for_each_line(piece, [&](const ArrayLine& line) {
            // Each line crosses such a plane in a single element.
            if (axis_ == last) {
                if (at_ < line.at[last] || at_ - line.at[last] >= line.count) return;
                const auto element = line.first + (at_ - line.at[last]);
                keep(place_in(plane_, without(line.at, axis_)), from.subspan(element * size, size), 1);
            } else if (axis_ < 0 || line.at[axis_] == at_) {
                keep(place_in(plane_, without(line.at, axis_)), from.subspan(line.first * size, line.count * size),
                     line.count);
            }
        });
    }

    std::vector<std::byte> part() const override {
        PartWriter to;
        to.number<std::uint32_t>(variable_.type.size_bytes);
        to.numbers<std::uint64_t>(firsts_);
        to.numbers<std::uint64_t>(counts_);
        to.numbers<std::uint8_t>(bytes_);
        return std::move(to).take();
    }

    Result<> merge(std::span<const std::byte> part) override {
        const Error damaged{ErrorKind::corrupt, "a part of the slice of '" + variable_.name + "' is damaged"};
        PartReader from(part, "a part of the slice of '" + variable_.name + "'");
        const auto size = from.number<std::uint32_t>();
        const auto firsts = from.numbers<std::uint64_t>(part.size());
        const auto counts = from.numbers<std::uint64_t>(part.size());
        const auto bytes = from.numbers<std::uint8_t>(part.size());
        FB_TRY(from.done());
        if (size != variable_.type.size_bytes || firsts.size() != counts.size()) return damaged;
        const auto elements = volume(plane_);
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < firsts.size(); ++i) {
            if (counts[i] == 0 || firsts[i] >= elements || counts[i] > elements - firsts[i]) return damaged;
            // Divided, not multiplied: a damaged count cannot overflow.
            if (counts[i] > bytes.size() / size - all) return damaged;
            all += counts[i];
        }
        if (all * size != bytes.size()) return damaged;
        firsts_.insert(firsts_.end(), firsts.begin(), firsts.end());
        counts_.insert(counts_.end(), counts.begin(), counts.end());
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return {};
    }

    Result<Made> make(const Moment& moment) override {
        FB_TRY_ASSIGN(plane, whole());
        auto attributes = units_of(variable_);
        if (axis_ >= 0) {
            attributes.others.emplace_back("axis", static_cast<std::int64_t>(axis_));
            attributes.others.emplace_back("at", static_cast<std::int64_t>(at_));
        }
        note_missing(attributes, volume(plane_) - seen_);
        note_sides(attributes, analysis_, variable_, axis_);
        note_palette(attributes, analysis_);
        Made results;
        if (const auto real = RealNumbers::of(variable_); analysis_.picture && real) {
            std::vector<double> numbers(volume(plane_));
            real->take_doubles(plane, 0, numbers);
            PlaneWords words{"", variable_.name};
            if (axis_ >= 0) words.title_end = fmt::format("{} = {}", dimension_name(variable_, axis_), at_);
            FB_TRY_ASSIGN(picture,
                          draw_plane_of(analysis_, variable_, axis_, {numbers.begin(), numbers.end()}, words, moment));
            results.pictures.push_back(std::move(picture));
        }
        results.variables.push_back({variable_.name + "/plane", variable_.type, plane_, attributes, std::move(plane)});
        return results;
    }

private:
    void keep(std::uint64_t first, std::span<const std::byte> bytes, std::uint64_t count) {
        // Adjacent runs become one, so that parts stay short.
        if (!firsts_.empty() && firsts_.back() + counts_.back() == first) {
            counts_.back() += count;
        } else {
            firsts_.push_back(first);
            counts_.push_back(count);
        }
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
        bytes_.insert(bytes_.end(), begin, begin + bytes.size());
    }

    /// The plane with every run in place; `corrupt` if two parts hold the same element.
    Result<std::vector<std::byte>> whole() {
        const auto size = static_cast<std::size_t>(variable_.type.size_bytes);
        std::vector<std::size_t> order(firsts_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        // Sorted by place, so that overlapping runs are neighbours.
        std::ranges::sort(order, {}, [&](std::size_t run) { return firsts_[run]; });
        std::vector<std::uint64_t> offsets(firsts_.size());
        std::exclusive_scan(counts_.begin(), counts_.end(), offsets.begin(), std::uint64_t{0});
        seen_ = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});

        std::vector<std::byte> plane(volume(plane_) * size);
        // Only missing elements need the fill.
        if (seen_ < volume(plane_)) fill_nothing(variable_.type, plane);
        std::uint64_t end = 0;
        for (const auto run : order) {
            if (firsts_[run] < end)
                return Error{ErrorKind::corrupt, "two parts of the slice of '" + variable_.name + "' have one element"};
            end = firsts_[run] + counts_[run];
            std::copy_n(reinterpret_cast<const std::byte*>(bytes_.data()) + offsets[run] * size, counts_[run] * size,
                        plane.begin() + static_cast<std::ptrdiff_t>(firsts_[run] * size));
        }
        return plane;
    }

    const Analysis analysis_;
    const Variable variable_;
    const int axis_;
    const std::uint64_t at_;
    const Extents plane_;
    std::vector<std::uint64_t> firsts_, counts_;  // of runs, in elements of the plane
    std::vector<std::uint8_t> bytes_;             // of all runs, one after another
    std::uint64_t seen_ = 0;
};

}  // namespace

Result<std::unique_ptr<Analyser>> make_slice(const Analysis& analysis, std::span<const Variable> variables) {
    FB_TRY(check_array(variables, 2, "sliced"));
    const auto& variable = variables.front();
    int axis = -1;
    std::uint64_t at = 0;
    if (variable.shape.dims() > 2) {
        axis = analysis.axis;
        FB_TRY(check_axis(variable, axis));
        // The default is the middle plane.
        at = analysis.at < 0 ? variable.shape[axis] / 2 : static_cast<std::uint64_t>(analysis.at);
        if (at >= variable.shape[axis])
            return Error{ErrorKind::refused, fmt::format("variable '{}' of shape {} has no plane {} of dimension {}",
                                                         variable.name, show_shape(variable.shape), at, axis)};
    }
    if (analysis.picture && RealNumbers::of(variable)) FB_TRY(check_drawable(variable, without(variable.shape, axis)));
    return std::unique_ptr<Analyser>(std::make_unique<Slice>(analysis, variable, axis, at));
}

}  // namespace forebay::insitu
