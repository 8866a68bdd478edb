#include "insight/insitu/numbers.hpp"

namespace forebay::insitu {

namespace {

template <class T>
void to_nearest_double(std::byte* to, const std::byte* from, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        const auto nearest = static_cast<double>(value);
        std::memcpy(to + i * sizeof nearest, &nearest, sizeof nearest);
    }
}

}  // namespace

Result<RealNumbers> RealNumbers::of(const Variable& variable) {
    const auto scalar = variable.type.scalar;
    if (scalar == Scalar::string || scalar == Scalar::c64 || scalar == Scalar::c128)
        return Error{ErrorKind::refused,
                     "variable '" + variable.name + "' is of type " + name_of(variable.type) +
                         ", but the analysis needs real numbers",
                     "", "leave the variable out of the analysis"};
    RealNumbers numbers;
    numbers.type_ = variable.type;
    if (const auto conversion = describe::conversion(variable.type, f64)) numbers.to_double_ = conversion->run;
    else if (scalar == Scalar::i64) numbers.to_double_ = to_nearest_double<std::int64_t>;
    else if (scalar == Scalar::u64) numbers.to_double_ = to_nearest_double<std::uint64_t>;
    else return conversion.error();
    if (const auto conversion = describe::conversion(variable.type, f32)) numbers.to_float_ = conversion->run;
    return numbers;
}

void RealNumbers::take_doubles(std::span<const std::byte> column, std::uint64_t first, std::span<double> to) const {
    const auto* const from = column.data() + first * type_.size_bytes;
    if (type_ == f64) std::memcpy(to.data(), from, to.size_bytes());
    else to_double_(std::as_writable_bytes(to).data(), from, to.size());
}

}  // namespace forebay::insitu
