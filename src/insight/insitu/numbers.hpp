// Reads the elements of a real variable, a few thousand at a time, as numbers of one type. It uses the lossless
// conversions of module describe, and turns integers of 64 bits into the nearest double.
//
// Threads: any number may use one object.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/describe/convert.hpp"
#include "core/describe/schema.hpp"

namespace forebay::insitu {

class RealNumbers {
public:
    static constexpr std::size_t chunk_count = 4096;  // doubles: half of a core's first cache

    /// `refused` for complex numbers and strings.
    static Result<RealNumbers> of(const Variable& variable);

    Type type() const { return type_; }

    /// Calls `use` with std::span<const T>, in the order of the column. T is double, or float if it holds each value of
    /// the type, or the variable's own type. The span is valid until `use` returns.
    template <class T, class Use>
    void each_chunk(std::span<const std::byte> column, Use&& use) const {
        alignas(64) std::array<T, chunk_count> chunk;
        for (auto left = column.size() / type_.size_bytes; left > 0;) {
            const auto count = std::min(left, chunk_count);
            use(taken<T>(column.data(), std::span(chunk).first(count)));
            column = column.subspan(count * type_.size_bytes);
            left -= count;
        }
    }
    /// Reads elements from `first` on as doubles, as many as `to` holds.
    void take_doubles(std::span<const std::byte> column, std::uint64_t first, std::span<double> to) const;

private:
    using Run = void (*)(std::byte* to, const std::byte* from, std::uint64_t count);

    template <class T>
    std::span<const T> taken(const std::byte* from, std::span<T> chunk) const {
        if (type_ != type_of<T>()) {
            const auto run = type_of<T>() == f64 ? to_double_ : to_float_;
            run(std::as_writable_bytes(chunk).data(), from, chunk.size());
            return chunk;
        }
        if (reinterpret_cast<std::uintptr_t>(from) % alignof(T) == 0)
            return {reinterpret_cast<const T*>(from), chunk.size()};
        std::memcpy(chunk.data(), from, chunk.size_bytes());
        return chunk;
    }

    Type type_;
    Run to_double_ = nullptr, to_float_ = nullptr;  // null: no conversion exists, or it is not needed
};

}  // namespace forebay::insitu
