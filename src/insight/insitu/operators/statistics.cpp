#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/try.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/moments.hpp"
#include "insight/insitu/numbers.hpp"
#include "insight/insitu/operators/lines.hpp"
#include "insight/insitu/operators/makers.hpp"

namespace forebay::insitu {

namespace {

// A level takes 2 KiB: 128 MiB in all.
constexpr std::uint64_t levels_max = 65'536;

/// The elements of a piece by level: the index along dimension `by`. They are sorted first, because adding a few
/// numbers alone costs as much as adding some hundred.
template <class T>
class LevelsOf {
public:
    LevelsOf(RealNumbers numbers, int by) : numbers_(numbers), by_(by) {}

    /// Calls use(level, values) for each level of the piece's block.
    template <class Use>
    void each(const Elements& piece, Use&& use) {
        const auto low = piece.box.lo[by_];
        const bool is_last = by_ == piece.box.lo.dims() - 1;
        ends_.assign(piece.box.size[by_] + 1, 0);
        for_each_line(piece, [&](const ArrayLine& line) {
            const auto level = line.at[by_] - low;
            if (is_last)
                for (std::uint64_t i = 0; i < line.count; ++i) ++ends_[level + i + 1];
            else ends_[level + 1] += line.count;
        });
        // A counting sort: the sums are the first places of the levels.
        std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
        values_.clear();
        numbers_.each_chunk<T>(piece.columns[0], [this](std::span<const T> values) {
            values_.insert(values_.end(), values.begin(), values.end());
        });
        sorted_.resize(values_.size());
        auto next = ends_;
        for_each_line(piece, [&](const ArrayLine& line) {
            const auto level = line.at[by_] - low;
            for (std::uint64_t i = 0; i < line.count; ++i)
                sorted_[next[is_last ? level + i : level]++] = values_[line.first + i];
        });
        for (std::uint64_t level = 0; level < piece.box.size[by_]; ++level)
            use(low + level, std::span<const T>(sorted_).subspan(ends_[level], ends_[level + 1] - ends_[level]));
    }

private:
    RealNumbers numbers_;
    int by_;
    std::vector<T> values_, sorted_;   // of a piece; kept to reuse the memory
    std::vector<std::uint64_t> ends_;  // the end in sorted_ of the level before
};

/// Counts in numbers of type T and returns extremes of type Own, over all elements or for each level (an index along
/// dimension `by`). Without a finite number, extremes of integers are 0.
template <class T, class Own>
class Statistics final : public Analyser {
public:
    /// `by` -1: one level.
    Statistics(const Variable& variable, RealNumbers numbers, int by)
        : name_(variable.name), units_(units_of(variable)), numbers_(numbers), levels_(1) {
        if (by < 0) return;
        shape_.push_back(variable.shape[by]);
        levels_.resize(variable.shape[by]);
        levels_of_.emplace(numbers, by);
    }

    void take(const Elements& piece) override {
        if (levels_of_)
            levels_of_->each(piece,
                             [this](std::uint64_t level, std::span<const T> values) { levels_[level].add(values); });
        else numbers_.each_chunk<T>(piece.columns[0], [this](std::span<const T> values) { levels_[0].add(values); });
    }

    std::vector<std::byte> part() const override {
        PartWriter part;
        for (const auto& level : levels_) level.write(part);
        return std::move(part).take();
    }

    Result<> merge(std::span<const std::byte> bytes) override {
        PartReader part(bytes, "a part of the statistics of '" + name_ + "'");
        std::vector<Moments<T>> others(levels_.size());
        for (auto& other : others) FB_TRY(other.read(part));
        FB_TRY(part.done());
        for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i].merge(others[i]);
        return {};
    }

    Result<Made> make(const Moment&) override {
        Attributes squared;
        if (!units_.unit.empty()) squared.unit = "(" + units_.unit + ")^2";
        Made results;
        const auto put = [&](const char* what, const Attributes& attributes, const auto& of_level) {
            std::vector<std::decay_t<decltype(of_level(levels_[0]))>> values;
            for (const auto& level : levels_) values.push_back(of_level(level));
            results.variables.push_back(found_list(name_ + what, shape_, std::span(std::as_const(values)), attributes));
        };
        put("/min", units_, [](const auto& level) { return extreme(level, level.extremes().least); });
        put("/max", units_, [](const auto& level) { return extreme(level, level.extremes().largest); });
        put("/mean", units_, [](const auto& level) { return level.mean(); });
        put("/variance", squared, [](const auto& level) { return level.variance(); });
        put("/sum", units_, [](const auto& level) { return level.sum(); });
        put("/count", {}, [](const auto& level) { return level.count(); });
        put("/nan", {}, [](const auto& level) { return level.nan(); });
        put("/inf", {}, [](const auto& level) { return level.infinite(); });
        return results;
    }

private:
    static Own extreme(const Moments<T>& level, T value) {
        if (level.count() == 0)
            return std::numeric_limits<Own>::has_quiet_NaN ? std::numeric_limits<Own>::quiet_NaN() : Own{};
        // A damaged part may hold a float beyond the range of a small integer.
        return static_cast<Own>(std::clamp(value, static_cast<T>(std::numeric_limits<Own>::lowest()),
                                           static_cast<T>(std::numeric_limits<Own>::max())));
    }

    std::string name_;
    Attributes units_;
    RealNumbers numbers_;
    std::optional<LevelsOf<T>> levels_of_;  // null: one level for all
    Extents shape_;                         // of each result
    std::vector<Moments<T>> levels_;
};

Result<> check_by(const Variable& variable, int by) {
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused,
                     fmt::format("there are no statistics by dimension {} of '{}': {}", by, variable.name, why)};
    };
    if (by < 0) return {};
    if (variable.kind != Kind::array) return refuse("it is not an array");
    if (by >= variable.shape.dims()) return refuse("its shape is " + show_shape(variable.shape));
    if (variable.shape[by] > levels_max) return refuse(fmt::format("it is longer than {} there", levels_max));
    return {};
}

}  // namespace

Result<std::unique_ptr<Analyser>> make_statistics(const Analysis& analysis, std::span<const Variable> variables) {
    const auto& variable = variables[0];
    FB_TRY(check_by(variable, analysis.by));
    FB_TRY_ASSIGN(numbers, RealNumbers::of(variable));
    const auto make = [&]<class T, class Own>() -> std::unique_ptr<Analyser> {
        return std::make_unique<Statistics<T, Own>>(variable, numbers, analysis.by);
    };
    switch (variable.type.scalar) {
        case Scalar::f16: return make.operator()<float, float>();  // C++ has no f16 of its own, so results are floats
        case Scalar::f32: return make.operator()<float, float>();
        case Scalar::f64: return make.operator()<double, double>();
        case Scalar::i8: return make.operator()<float, std::int8_t>();
        case Scalar::i16: return make.operator()<float, std::int16_t>();
        case Scalar::i32: return make.operator()<std::int32_t, std::int32_t>();
        case Scalar::i64: return make.operator()<std::int64_t, std::int64_t>();
        case Scalar::u8: return make.operator()<float, std::uint8_t>();
        case Scalar::u16: return make.operator()<float, std::uint16_t>();
        case Scalar::u32: return make.operator()<std::uint32_t, std::uint32_t>();
        default: return make.operator()<std::uint64_t, std::uint64_t>();
    }
}

}  // namespace forebay::insitu
