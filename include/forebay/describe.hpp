// The contents of a snapshot: element types, shapes, boxes, and their places in this rank's memory.
//
// Everything here is a plain value. Nothing allocates device memory, opens files or communicates.

#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "forebay/result.hpp"

namespace forebay {

/// The largest number of dimensions of an array.
inline constexpr int dims_max = 8;

enum class Scalar : std::uint8_t { f16 = 1, f32, f64, c64, c128, i8, i16, i32, i64, u8, u16, u32, u64, string };

/// The type of one element. c64 and c128 are (real, imaginary) pairs of f32 and f64. A string is a field of fixed
/// length, padded with NUL.
struct Type {
    Scalar scalar = Scalar::u8;
    std::uint32_t size_bytes = 1;
    friend bool operator==(const Type&, const Type&) = default;
};

inline constexpr Type f16{Scalar::f16, 2}, f32{Scalar::f32, 4}, f64{Scalar::f64, 8};
inline constexpr Type c64{Scalar::c64, 8}, c128{Scalar::c128, 16};
inline constexpr Type i8{Scalar::i8, 1}, i16{Scalar::i16, 2}, i32{Scalar::i32, 4}, i64{Scalar::i64, 8};
inline constexpr Type u8{Scalar::u8, 1}, u16{Scalar::u16, 2}, u32{Scalar::u32, 4}, u64{Scalar::u64, 8};
constexpr Type string_of(std::uint32_t length_bytes) { return {Scalar::string, length_bytes}; }

/// The name of a type, as in "f32", "i64", "string[16]". Node files and error texts use it.
std::string name_of(Type type);
/// The inverse of name_of. Any other text is `refused`.
Result<Type> type_named(const std::string& name);

template <class T>
constexpr Type type_of();
// clang-format off
template <> constexpr Type type_of<float>() { return f32; }
template <> constexpr Type type_of<double>() { return f64; }
template <> constexpr Type type_of<std::complex<float>>() { return c64; }
template <> constexpr Type type_of<std::complex<double>>() { return c128; }
template <> constexpr Type type_of<std::int8_t>() { return i8; }
template <> constexpr Type type_of<std::int16_t>() { return i16; }
template <> constexpr Type type_of<std::int32_t>() { return i32; }
template <> constexpr Type type_of<std::int64_t>() { return i64; }
template <> constexpr Type type_of<std::uint8_t>() { return u8; }
template <> constexpr Type type_of<std::uint16_t>() { return u16; }
template <> constexpr Type type_of<std::uint32_t>() { return u32; }
template <> constexpr Type type_of<std::uint64_t>() { return u64; }
// clang-format on

template <class T, class... Known>
inline constexpr bool is_one_of = (std::is_same_v<T, Known> || ...);
/// The C++ types that type_of() accepts.
template <class T>
concept Element = is_one_of<T, float, double, std::complex<float>, std::complex<double>, std::int8_t, std::int16_t,
                            std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

/// Up to dims_max numbers: a shape, a position, or a size in elements. An empty Extents is the shape of a scalar.
class Extents {
public:
    constexpr Extents() = default;
    /// With more than dims_max numbers, valid() is false. The calls that describe data then refuse it.
    constexpr Extents(std::initializer_list<std::uint64_t> numbers) {
        for (const auto number : numbers) push_back(number);
    }
    constexpr int dims() const { return dims_; }
    constexpr std::uint64_t operator[](int dim) const { return at_[static_cast<std::size_t>(dim)]; }
    constexpr std::uint64_t& operator[](int dim) { return at_[static_cast<std::size_t>(dim)]; }
    constexpr void push_back(std::uint64_t number) {
        if (dims_ < dims_max) at_[static_cast<std::size_t>(dims_)] = number;
        ++dims_;
    }
    constexpr bool valid() const { return dims_ <= dims_max; }
    friend constexpr bool operator==(const Extents&, const Extents&) = default;

private:
    std::array<std::uint64_t, dims_max> at_{};
    int dims_ = 0;
};

/// A box of a global array: its first element and its size, in elements, slowest dimension first.
struct Box {
    Extents lo;
    Extents size;
    friend bool operator==(const Box&, const Box&) = default;
};

/// The place of a box in memory: the address of the box's own first element (not of its halo), and the distance in
/// bytes between neighbouring elements along each dimension, slowest dimension first.
struct Piece {
    Box box;
    void* data = nullptr;
    std::array<std::int64_t, dims_max> stride_bytes{};
    /// Elements in memory around the box. A save skips them. A restart fills the elements that lie inside the global
    /// shape.
    Extents halo_lo, halo_hi;
};

/// A box alone in memory, row-major (C order, last dimension fastest), without halo.
Piece packed(const Box& box, Type type, void* data);
/// A box inside a row-major allocation that has `halo` more elements on both sides of each dimension. `allocation` is
/// the address of the allocation's first element.
Piece with_halo(const Box& box, const Extents& halo, Type type, void* allocation);

template <class T>
Piece packed(const Box& box, T* data) {
    return packed(box, type_of<T>(), data);
}
template <class T>
Piece with_halo(const Box& box, const Extents& halo, T* allocation) {
    return with_halo(box, halo, type_of<T>(), allocation);
}

using AttributeValue = std::variant<std::string, double, std::int64_t>;

/// Descriptions for readers of the files. All are optional, and equal on every rank.
struct Attributes {
    std::string unit = {};
    std::string description = {};
    std::vector<std::string> dimensions = {};  // names, slowest dimension first; only for arrays
    std::vector<std::pair<std::string, AttributeValue>> others = {};
    friend bool operator==(const Attributes&, const Attributes&) = default;
};

/// Full: the boxes of all ranks must fill the global shape. Partial: they may leave holes.
enum class Coverage : std::uint8_t { full, partial };

/// `equal`: the value has the same bits on every rank. `first_rank`: ranks may differ, and rank 0's value is saved.
enum class Replicated : std::uint8_t { equal, first_rank };

/// One column of a particle table.
struct Column {
    std::string name;
    Type type;
    Attributes attributes = {};
};

/// The place of one column: the address of its first row and the distance between rows in bytes. 0 means contiguous.
struct ColumnData {
    ColumnData() = default;
    ColumnData(void* first, std::int64_t stride = 0) : data(first), stride_bytes(stride) {}
    void* data = nullptr;
    std::int64_t stride_bytes = 0;
};

}  // namespace forebay
