// Values of some elements of an array. A node has the elements in its blocks. Elements that no block holds are NaN, or
// 0 or blank if the type has no NaN; the attribute "missing" counts them. A point given twice has two values.
//
// Part: the size of an element, the numbers of the points present, and their bytes.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/operators/lines.hpp"
#include "insight/insitu/operators/makers.hpp"
#include "insight/insitu/operators/nothing.hpp"
#include "insight/insitu/operators/plane.hpp"
#include "insight/insitu/part_bytes.hpp"

namespace forebay::insitu {

namespace {

class Probe final : public Analyser {
public:
    Probe(const Analysis& analysis, const Variable& variable) : variable_(variable), words_(words_of(analysis.points)) {
        for (const auto& point : analysis.points) {
            Extents place;
            for (const auto index : point) place.push_back(static_cast<std::uint64_t>(index));
            points_.push_back(place);
        }
        values_.resize(points_.size() * variable.type.size_bytes);
        // Points that no block holds keep this fill.
        fill_nothing(variable.type, values_);
        seen_.resize(points_.size());
    }

    void take(const Elements& piece) override {
        const auto size = variable_.type.size_bytes;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const auto& point = points_[i];
            if (!holds(piece.box, point)) continue;
            std::uint64_t element = 0;
            for (int dim = 0; dim < point.dims(); ++dim)
                element = element * piece.box.size[dim] + (point[dim] - piece.box.lo[dim]);
            if (element < piece.first || element - piece.first >= piece.count) continue;
            put(i, piece.columns.front().subspan((element - piece.first) * size, size));
        }
    }

    std::vector<std::byte> part() const override {
        PartWriter to;
        const auto size = variable_.type.size_bytes;
        std::vector<std::uint64_t> numbers;
        std::vector<std::uint8_t> bytes;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            if (seen_[i] == 0) continue;
            numbers.push_back(i);
            for (std::size_t k = 0; k < size; ++k) bytes.push_back(static_cast<std::uint8_t>(values_[i * size + k]));
        }
        to.number<std::uint32_t>(size);
        to.numbers<std::uint64_t>(numbers);
        to.numbers<std::uint8_t>(bytes);
        return std::move(to).take();
    }

    Result<> merge(std::span<const std::byte> part) override {
        PartReader from(part, "a part of the probe of '" + variable_.name + "'");
        const auto size = from.number<std::uint32_t>();
        const auto numbers = from.numbers<std::uint64_t>(points_.size());
        const auto bytes = from.numbers<std::uint8_t>(values_.size());
        FB_TRY(from.done());
        const auto is_point = [&](std::uint64_t number) { return number < points_.size() && seen_[number] == 0; };
        // part() writes points in order, so a repeated point is damage.
        const bool rises = std::ranges::adjacent_find(numbers, std::ranges::greater_equal{}) == numbers.end();
        if (size != variable_.type.size_bytes || bytes.size() != numbers.size() * size || !rises ||
            !std::ranges::all_of(numbers, is_point))
            return Error{ErrorKind::corrupt, "a part of the probe of '" + variable_.name + "' is damaged"};
        for (std::size_t i = 0; i < numbers.size(); ++i)
            put(numbers[i], std::as_bytes(std::span(bytes)).subspan(i * size, size));
        return {};
    }

    Result<Made> make(const Moment&) override {
        auto attributes = units_of(variable_);
        attributes.others.emplace_back("points", words_);
        note_missing(attributes, static_cast<std::uint64_t>(std::ranges::count(seen_, 0)));
        Made results;
        results.variables.push_back(
            {variable_.name + "/values", variable_.type, {points_.size()}, attributes, std::move(values_)});
        return results;
    }

    /// "[4, 5, 6]"
    static std::string words_of(const std::vector<std::int64_t>& point) {
        std::string words;
        for (const auto index : point) words += (words.empty() ? "[" : ", ") + std::to_string(index);
        return words.empty() ? "[]" : words + "]";
    }
    /// "[4, 5, 6] [0, 0, 1]", up to the size limit of an attribute.
    static std::string words_of(const std::vector<std::vector<std::int64_t>>& points) {
        std::string words;
        for (const auto& point : points) {
            const auto next = (words.empty() ? "" : " ") + words_of(point);
            if (words.size() + next.size() + 4 > limits::attribute_bytes_max) return words + " ...";
            words += next;
        }
        return words;
    }

private:
    static bool holds(const Box& box, const Extents& point) {
        for (int dim = 0; dim < point.dims(); ++dim)
            if (point[dim] < box.lo[dim] || point[dim] - box.lo[dim] >= box.size[dim]) return false;
        return true;
    }
    void put(std::size_t point, std::span<const std::byte> value) {
        std::ranges::copy(value, values_.begin() + static_cast<std::ptrdiff_t>(point * value.size()));
        seen_[point] = 1;
    }

    const Variable variable_;
    const std::string words_;
    std::vector<Extents> points_;
    std::vector<std::byte> values_;
    std::vector<std::uint8_t> seen_;
};

}  // namespace

Result<std::unique_ptr<Analyser>> make_probe(const Analysis& analysis, std::span<const Variable> variables) {
    FB_TRY(check_array(variables, 1, "probed"));
    const auto& variable = variables.front();
    if (analysis.points.empty())
        return Error{ErrorKind::refused, fmt::format("analysis '{}' has no points", analysis.name)};
    for (const auto& point : analysis.points) {
        bool lies_inside = point.size() == static_cast<std::size_t>(variable.shape.dims());
        for (std::size_t dim = 0; lies_inside && dim < point.size(); ++dim)
            lies_inside =
                point[dim] >= 0 && static_cast<std::uint64_t>(point[dim]) < variable.shape[static_cast<int>(dim)];
        if (!lies_inside)
            return Error{ErrorKind::refused,
                         fmt::format("point {} is outside of variable '{}' of shape {}", Probe::words_of(point),
                                     variable.name, show_shape(variable.shape))};
    }
    return std::unique_ptr<Analyser>(std::make_unique<Probe>(analysis, variable));
}

}  // namespace forebay::insitu
