#include "insight/insitu/histogram_2d.hpp"

#include <algorithm>

#include "core/base/try.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/operators/makers.hpp"

namespace forebay::insitu {

namespace {

class HistogramOfTwo final : public Analyser {
public:
    HistogramOfTwo(std::span<const Variable> variables, RealNumbers x, RealNumbers y, const BinAxis& axis)
        : name_(variables[0].name + "." + variables[1].name),
          x_is_(axis_of(variables[0])),
          y_is_(axis_of(variables[1])),
          x_(x),
          y_(y),
          empty_(axis),
          histogram_(axis, axis) {}

    void take(const Elements& piece) override {
        for (std::uint64_t at = 0; at < piece.count; at += RealNumbers::chunk_count) {
            const auto count =
                static_cast<std::size_t>(std::min<std::uint64_t>(piece.count - at, RealNumbers::chunk_count));
            const auto x = std::span(x_chunk_).first(count), y = std::span(y_chunk_).first(count);
            x_.take_doubles(piece.columns[0], at, x);
            y_.take_doubles(piece.columns[1], at, y);
            histogram_.add(x, y);
        }
    }

    std::vector<std::byte> part() const override {
        PartWriter part;
        histogram_.write(part);
        return std::move(part).take();
    }

    Result<> merge(std::span<const std::byte> bytes) override {
        PartReader part(bytes, "a part of the histogram of '" + name_ + "'");
        Histogram2d other(empty_, empty_);
        FB_TRY(other.read(part));
        FB_TRY(part.done());
        histogram_.merge(other);
        return {};
    }

    Result<Made> make(const Moment&) override {
        const auto bins = histogram_.bins();
        const auto x_edges = histogram_.x().edges(), y_edges = histogram_.y().edges();
        Made results;
        auto& list = results.variables;
        list.push_back(
            found_list<std::uint64_t>(name_ + "/counts", {histogram_.x().bins(), histogram_.y().bins()}, bins, {}));
        list.push_back(found_list<double>(name_ + "/x_edges", {x_edges.size()}, x_edges, x_is_));
        list.push_back(found_list<double>(name_ + "/y_edges", {y_edges.size()}, y_edges, y_is_));
        list.push_back(found_scalar(name_ + "/outside", histogram_.outside(), {}));
        return results;
    }

private:
    /// Attributes for plots.
    static Attributes axis_of(const Variable& variable) {
        auto attributes = units_of(variable);
        attributes.description = variable.name;
        return attributes;
    }

    std::string name_;
    Attributes x_is_, y_is_;
    RealNumbers x_, y_;
    BinAxis empty_;  // for read(), which needs an empty histogram
    Histogram2d histogram_;
    std::array<double, RealNumbers::chunk_count> x_chunk_{}, y_chunk_{};
};

}  // namespace

Result<std::unique_ptr<Analyser>> make_histogram_2d(const Analysis& analysis, std::span<const Variable> variables) {
    if (variables.size() != 2 || analysis.bins > Histogram2d::bins_max)
        return Error{ErrorKind::refused, "analysis '" + analysis.name + "' needs two variables, x and y, and at most " +
                                             std::to_string(Histogram2d::bins_max) + " bins along each axis"};
    FB_TRY_ASSIGN(x, RealNumbers::of(variables[0]));
    FB_TRY_ASSIGN(y, RealNumbers::of(variables[1]));
    FB_TRY_ASSIGN(axis, BinAxis::of(analysis, Histogram2d::cells_a_bin));
    return std::unique_ptr<Analyser>(std::make_unique<HistogramOfTwo>(variables, x, y, axis));
}

}  // namespace forebay::insitu
