#include "insight/insitu/histogram.hpp"

#include "core/base/try.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/operators/makers.hpp"

namespace forebay::insitu {

namespace {

class HistogramOfOne final : public Analyser {
public:
    HistogramOfOne(const Variable& variable, RealNumbers numbers, const BinAxis& axis)
        : name_(variable.name), units_(units_of(variable)), numbers_(numbers), empty_(axis), histogram_(axis) {}

    void take(const Elements& piece) override {
        numbers_.each_chunk<double>(piece.columns[0],
                                    [this](std::span<const double> values) { histogram_.add(values); });
    }

    std::vector<std::byte> part() const override {
        PartWriter part;
        histogram_.write(part);
        return std::move(part).take();
    }

    Result<> merge(std::span<const std::byte> bytes) override {
        PartReader part(bytes, "a part of the histogram of '" + name_ + "'");
        Histogram other(empty_);
        FB_TRY(other.read(part));
        FB_TRY(part.done());
        histogram_.merge(other);
        return {};
    }

    /// Edges are NaN if the range was to be found and no value has one.
    Result<Made> make(const Moment&) override {
        const auto bins = histogram_.bins();
        const auto edges = histogram_.axis().edges();
        Made results;
        auto& list = results.variables;
        list.push_back(found_list<std::uint64_t>(name_ + "/counts", {bins.size()}, bins, {}));
        list.push_back(found_list<double>(name_ + "/edges", {edges.size()}, edges, units_));
        list.push_back(found_scalar(name_ + "/below", histogram_.below(), {}));
        list.push_back(found_scalar(name_ + "/above", histogram_.above(), {}));
        list.push_back(found_scalar(name_ + "/nan", histogram_.nan(), {}));
        return results;
    }

private:
    std::string name_;
    Attributes units_;
    RealNumbers numbers_;
    BinAxis empty_;  // for read(), which needs an empty histogram
    Histogram histogram_;
};

}  // namespace

Result<std::unique_ptr<Analyser>> make_histogram(const Analysis& analysis, std::span<const Variable> variables) {
    FB_TRY_ASSIGN(numbers, RealNumbers::of(variables[0]));
    FB_TRY_ASSIGN(axis, BinAxis::of(analysis, Histogram::cells_a_bin));
    return std::unique_ptr<Analyser>(std::make_unique<HistogramOfOne>(variables[0], numbers, axis));
}

}  // namespace forebay::insitu
