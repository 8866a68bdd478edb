#include "program/look/value_difference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "core/describe/convert.hpp"

namespace forebay::cli {

namespace {

template <class T>
double distance_of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return std::abs(static_cast<double>(a) - static_cast<double>(b));
    // Exact before rounding: i64 and u64 have more digits than a double.
    else if constexpr (std::is_integral_v<T>)
        return static_cast<double>(a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                                         : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a));
    else return static_cast<double>(std::abs(a - b));
}

template <class T>
double distance_at(const std::byte* first, const std::byte* second) {
    T a{}, b{};
    std::memcpy(&a, first, sizeof(T));
    std::memcpy(&b, second, sizeof(T));
    return distance_of(a, b);
}

double distance_of_halves(const std::byte* first, const std::byte* second) {
    static const auto to_double = describe::conversion(f16, f64);
    if (!to_double) return std::numeric_limits<double>::quiet_NaN();
    double a = 0, b = 0;
    to_double->run(reinterpret_cast<std::byte*>(&a), first, 1);
    to_double->run(reinterpret_cast<std::byte*>(&b), second, 1);
    return distance_of(a, b);
}

double distance_of_strings(const std::byte*, const std::byte*) { return std::numeric_limits<double>::quiet_NaN(); }

using Distance = double (*)(const std::byte*, const std::byte*);

Distance distance_for(Scalar scalar) {
    switch (scalar) {
        case Scalar::f16: return distance_of_halves;
        case Scalar::f32: return distance_at<float>;
        case Scalar::f64: return distance_at<double>;
        case Scalar::c64: return distance_at<std::complex<float>>;
        case Scalar::c128: return distance_at<std::complex<double>>;
        case Scalar::i8: return distance_at<std::int8_t>;
        case Scalar::i16: return distance_at<std::int16_t>;
        case Scalar::i32: return distance_at<std::int32_t>;
        case Scalar::i64: return distance_at<std::int64_t>;
        case Scalar::u8: return distance_at<std::uint8_t>;
        case Scalar::u16: return distance_at<std::uint16_t>;
        case Scalar::u32: return distance_at<std::uint32_t>;
        case Scalar::u64: return distance_at<std::uint64_t>;
        case Scalar::string: break;
    }
    return distance_of_strings;
}

}  // namespace

void add_difference(Type type, std::span<const std::byte> first, std::span<const std::byte> second, std::uint64_t at,
                    std::uint64_t& last_element, ValueDifference& difference) {
    difference.is_news = false;
    if (std::memcmp(first.data(), second.data(), first.size()) == 0) return;
    const auto distance = distance_for(type.scalar);
    for (std::uint64_t i = 0; i < first.size();) {
        const auto element = (at + i) / type.size_bytes;
        const auto end = std::min<std::uint64_t>((element + 1) * type.size_bytes - at, first.size());
        if (std::memcmp(first.data() + i, second.data() + i, end - i) != 0 && element != last_element) {
            last_element = element;
            ++difference.elements;
            const auto apart = distance(first.data() + i, second.data() + i);
            if (!(apart >= 0)) ++difference.without_number;
            if (apart > difference.largest || difference.elements == 1) {
                difference.is_news = true;
                difference.news_at = element * type.size_bytes;
            }
            if (apart > difference.largest) difference.largest = apart;
        }
        i = end;
    }
}

}  // namespace forebay::cli
