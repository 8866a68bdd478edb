#include <algorithm>
#include <limits>

#include "base/try.hpp"
#include "insitu/found.hpp"
#include "insitu/moments.hpp"
#include "insitu/numbers.hpp"
#include "insitu/operators/makers.hpp"

namespace forebay::insitu {

namespace {

/// In numbers of type T, with extremes of type Own. Where there is no finite number, extremes of integers are 0.
template <class T, class Own>
class Statistics final : public Analyser {
public:
    Statistics(const Variable& variable, RealNumbers numbers)
        : name_(variable.name), units_(units_of(variable)), numbers_(numbers) {}

    void take(const Elements& piece) override {
        numbers_.each_chunk<T>(piece.columns[0], [this](std::span<const T> values) { moments_.add(values); });
    }

    std::vector<std::byte> part() const override {
        PartWriter part;
        moments_.write(part);
        return std::move(part).take();
    }

    Result<> merge(std::span<const std::byte> bytes) override {
        PartReader part(bytes, "a part of the statistics of '" + name_ + "'");
        Moments<T> other;
        FB_TRY(other.read(part));
        FB_TRY(part.done());
        moments_.merge(other);
        return {};
    }

    Result<Made> make(const Moment&) override {
        Attributes squared;
        if (!units_.unit.empty()) squared.unit = "(" + units_.unit + ")^2";
        Made made;
        auto& list = made.variables;
        list.push_back(found_scalar(name_ + "/min", extreme(moments_.extremes().least), units_));
        list.push_back(found_scalar(name_ + "/max", extreme(moments_.extremes().largest), units_));
        list.push_back(found_scalar(name_ + "/mean", moments_.mean(), units_));
        list.push_back(found_scalar(name_ + "/variance", moments_.variance(), squared));
        list.push_back(found_scalar(name_ + "/sum", moments_.sum(), units_));
        list.push_back(found_scalar(name_ + "/count", moments_.count(), {}));
        list.push_back(found_scalar(name_ + "/nan", moments_.nan(), {}));
        list.push_back(found_scalar(name_ + "/inf", moments_.infinite(), {}));
        return made;
    }

private:
    Own extreme(T value) const {
        if (moments_.count() == 0)
            return std::numeric_limits<Own>::has_quiet_NaN ? std::numeric_limits<Own>::quiet_NaN() : Own{};
        // A part that is damaged may hold a float that no small integer is.
        return static_cast<Own>(std::clamp(value, static_cast<T>(std::numeric_limits<Own>::lowest()),
                                           static_cast<T>(std::numeric_limits<Own>::max())));
    }

    std::string name_;
    Attributes units_;
    RealNumbers numbers_;
    Moments<T> moments_;
};

}  // namespace

Result<std::unique_ptr<Analyser>> make_statistics(const Analysis&, std::span<const Variable> variables) {
    const auto& variable = variables[0];
    FB_TRY_ASSIGN(numbers, RealNumbers::of(variable));
    const auto make = [&]<class T, class Own>() -> std::unique_ptr<Analyser> {
        return std::make_unique<Statistics<T, Own>>(variable, numbers);
    };
    switch (variable.type.scalar) {
        case Scalar::f16: return make.operator()<float, float>();  // C++ has no type of its own for these
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
