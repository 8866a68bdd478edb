// The part of forebay.f90 for arguments of any type and rank: turns places into pieces and columns. It serves the
// modules of every Fortran compiler, and so belongs to forebay_mpi. fortran_place.c makes the places.

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "bindings/api/c_binding.hpp"
#include "bindings/fortran/fortran_place.h"
#include "core/base/try.hpp"

using namespace forebay;
using c_binding::given, c_binding::guarded, c_binding::text_or_empty;

namespace {

Result<> check_element(const FortranPlace& place) {
    if (place.type != 0) return {};
    return Error{ErrorKind::refused,
                 fmt::format("an element of {} bytes is not an integer, real, complex, logical or character of a valid "
                             "size. For a component of a derived type use fb_at(table%x).",
                             place.element_bytes)};
}

Type type_of(const FortranPlace& place) { return {static_cast<Scalar>(place.type & 0xff), place.type >> 8}; }

Result<> check_extents(const FortranPlace& data) {
    for (int dim = 0; dim < data.rank; ++dim)
        if (data.extent[dim] < 0)
            return Error{ErrorKind::refused, "the last extent of an assumed-size array is unknown."};
    return {};
}

// Fortran's first dimension is the fastest, ours the last.
int slowest_first(const FortranPlace& data, int dim) { return data.rank - 1 - dim; }

Extents reversed(int dims, const std::int64_t* numbers) {
    Extents result;
    for (int dim = dims; dim > 0; --dim) result.push_back(static_cast<std::uint64_t>(numbers[dim - 1]));
    return result;
}

Result<> check_not_negative(int dims, const std::int64_t* numbers, const char* what) {
    for (int dim = 0; dim < dims; ++dim)
        if (numbers[dim] < 0)
            return Error{ErrorKind::refused, fmt::format("{} is {} along dimension {}.", what, numbers[dim], dim + 1)};
    return {};
}

/// The box inside the halos of `data`. `start` counts from 1.
Result<Piece> piece_of(const FortranPlace& data, const std::int64_t* start, const std::int64_t* halo_lo,
                       const std::int64_t* halo_hi) {
    FB_TRY(check_extents(data));
    FB_TRY(check_not_negative(data.rank, halo_lo, "halo_lo"));
    FB_TRY(check_not_negative(data.rank, halo_hi, "halo_hi"));
    Piece piece{.box = {},
                .data = data.address,
                .halo_lo = reversed(data.rank, halo_lo),
                .halo_hi = reversed(data.rank, halo_hi)};
    auto* at = static_cast<std::byte*>(data.address);
    for (int dim = 0; dim < data.rank; ++dim) {
        const auto f = slowest_first(data, dim);
        const auto owned = data.extent[f] - halo_lo[f] - halo_hi[f];
        // A rank that owns nothing may pass any start.
        if (owned > 0 && start[f] < 1)
            return Error{ErrorKind::refused,
                         fmt::format("start is {} along dimension {}, but positions count from 1.", start[f], f + 1)};
        piece.box.lo.push_back(owned > 0 ? static_cast<std::uint64_t>(start[f] - 1) : 0);
        piece.box.size.push_back(owned > 0 ? static_cast<std::uint64_t>(owned) : 0);
        piece.stride_bytes[static_cast<std::size_t>(dim)] = data.stride_bytes[f];
        // `data` includes the halo, and a Piece begins at its first owned element.
        at += data.stride_bytes[f] * halo_lo[f];
    }
    piece.data = at;
    return piece;
}

Result<> is_contiguous(const FortranPlace& value) {
    auto bytes = value.element_bytes;
    for (int dim = 0; dim < value.rank; ++dim) {
        if (value.extent[dim] > 1 && value.stride_bytes[dim] != bytes)
            return Error{ErrorKind::refused, "a replicated variable must be contiguous in memory."};
        bytes *= value.extent[dim];
    }
    return {};
}

/// The shape of a replicated variable.
Result<Extents> shape_of_value(const FortranPlace& value) {
    FB_TRY(check_element(value));
    FB_TRY(check_extents(value));
    FB_TRY(is_contiguous(value));
    return reversed(value.rank, value.extent);
}

/// `dimensions` has a line for each name, the fastest dimension first.
Attributes attributes_of(const char* unit, const char* description, const std::string& dimensions = "") {
    Attributes result{.unit = text_or_empty(unit), .description = text_or_empty(description)};
    std::istringstream lines(dimensions);
    for (std::string line; std::getline(lines, line);) result.dimensions.insert(result.dimensions.begin(), line);
    return result;
}

}  // namespace

extern "C" {

fb_status fb_fortran_refusal(const char* what, const char* next, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        return Error{ErrorKind::refused, text_or_empty(what), "", text_or_empty(next)};
    });
}

fb_status fb_fortran_replicated(fb_stream* stream, const char* name, const FortranPlace* value, const char* unit,
                                const char* description, int first_rank, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        FB_TRY_ASSIGN(shape, shape_of_value(*value));
        return stream->value.replicated(text_or_empty(name), type_of(*value), shape, value->address,
                                        attributes_of(unit, description),
                                        first_rank == 0 ? Replicated::equal : Replicated::first_rank);
    });
}

fb_status fb_fortran_array(fb_stream* stream, const char* name, const FortranPlace* data, int dims,
                           const std::int64_t* shape, const std::int64_t* start, const std::int64_t* halo_lo,
                           const std::int64_t* halo_hi, const char* unit, const char* description,
                           const char* dimensions, int partial, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        if (dims != data->rank)
            return Error{ErrorKind::refused,
                         fmt::format("variable '{}' has {} dimensions here, but a global shape of {}.",
                                     text_or_empty(name), data->rank, dims)};
        FB_TRY(check_element(*data));
        FB_TRY(check_not_negative(dims, shape, "the global shape"));
        FB_TRY_ASSIGN(piece, piece_of(*data, start, halo_lo, halo_hi));
        return stream->value.array(text_or_empty(name), type_of(*data), reversed(dims, shape), {piece},
                                   attributes_of(unit, description, text_or_empty(dimensions)),
                                   partial == 0 ? Coverage::full : Coverage::partial);
    });
}

fb_status fb_fortran_rebind_array(fb_stream* stream, const char* name, const FortranPlace* data, int dims,
                                  const std::int64_t* start, const std::int64_t* halo_lo, const std::int64_t* halo_hi,
                                  int shape_dims, const std::int64_t* shape, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        if (dims != data->rank)
            return Error{ErrorKind::refused, fmt::format("variable '{}' has {} dimensions here, but a start of {}.",
                                                         text_or_empty(name), data->rank, dims)};
        FB_TRY(check_element(*data));
        FB_TRY_ASSIGN(piece, piece_of(*data, start, halo_lo, halo_hi));
        As as{.type = type_of(*data)};
        if (shape_dims > 0) as.shape = reversed(shape_dims, shape);
        return stream->value.rebind(text_or_empty(name), std::vector{piece}, as);
    });
}

fb_status fb_fortran_rebind_replicated(fb_stream* stream, const char* name, const FortranPlace* value,
                                       fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        FB_TRY_ASSIGN(shape, shape_of_value(*value));
        return stream->value.rebind(text_or_empty(name), value->address, {.type = type_of(*value), .shape = shape});
    });
}

fb_status fb_fortran_particles_bind(fb_particles* particles, std::uint64_t rows, std::size_t count,
                                    const FortranPlace* columns, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(particles, "fb_particles"));
        std::vector<ColumnData> data;
        std::vector<Type> types;
        for (std::size_t i = 0; i < count; ++i) {
            if (columns[i].rank != 1 || columns[i].extent[0] < static_cast<std::int64_t>(rows))
                return Error{
                    ErrorKind::refused,
                    fmt::format("column {} has {} dimensions and {} rows, but one dimension of at least {} is needed.",
                                i + 1, columns[i].rank, columns[i].rank > 0 ? columns[i].extent[0] : 1, rows)};
            FB_TRY(check_element(columns[i]));
            data.emplace_back(columns[i].address, columns[i].stride_bytes[0]);
            types.push_back(type_of(columns[i]));
        }
        return particles->value.bind(rows, std::move(data), types);
    });
}

}  // extern "C"
