// The elements of a variable of real numbers, a few thousand at a time, as numbers of one type: by the conversions of
// room describe where these lose nothing, and integers of 64 bits as the nearest double.
//
// Threads: any number, of one object.

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
    static constexpr std::size_t chunk_count = 4096;  // of doubles: half of a core's first cache

    /// `refused` for complex numbers and strings.
    static Result<RealNumbers> of(const Variable& variable);

    Type type() const { return type_; }

    /// Calls `use` with std::span<const T>, in the order of the column: T is double, float where that holds each value
    /// of the type, or the type's own. The span is valid until `use` returns.
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
    /// The elements from `first` on as doubles, as many as `to` takes.
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
    Run to_double_ = nullptr, to_float_ = nullptr;  // null: no conversion, or none that is needed
};

}  // namespace forebay::insitu
