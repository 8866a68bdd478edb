// The part of forebay.f90 for arguments of any type and rank: turns Fortran's descriptors into places, and places into
// pieces and columns. Section 18.5 of the Fortran 2018 standard defines the descriptors.

#include <ISO_Fortran_binding.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "bindings/api/c_binding.hpp"
#include "core/base/try.hpp"

using namespace forebay;
using c_binding::given, c_binding::guarded, c_binding::text_or_empty;

namespace {

// Type fb_place of forebay_words.f90.
struct FortranPlace {
    void* address;
    std::int64_t element_bytes;
    fb_type type;  // 0: a type that cannot be saved
    std::int32_t rank;
    std::int64_t extent[CFI_MAX_RANK];  // -1: the last extent of an assumed-size array
    std::int64_t stride_bytes[CFI_MAX_RANK];
};

// Compilers number the same kinds differently. The class and the size of an element are the same everywhere.
fb_type type_of_elements(const CFI_cdesc_t& data) {
    const auto is_one_of = [&](std::initializer_list<CFI_type_t> codes) {
        return std::find(codes.begin(), codes.end(), data.type) != codes.end();
    };
    const auto by_size = [&](std::initializer_list<fb_type> types) {
        const auto at =
            std::find_if(types.begin(), types.end(), [&](fb_type type) { return type >> 8 == data.elem_len; });
        return at == types.end() ? 0 : *at;
    };
    bool is_whole = is_one_of({CFI_type_int8_t, CFI_type_int16_t, CFI_type_int32_t, CFI_type_int64_t, CFI_type_int,
                               CFI_type_long, CFI_type_long_long});
#ifdef CFI_type_Logical  // gfortran's logical has its own class
    is_whole |= (data.type & CFI_type_mask) == CFI_type_Logical;
#endif
    if (is_whole) return by_size({FB_I8, FB_I16, FB_I32, FB_I64});
    if (is_one_of({CFI_type_float, CFI_type_double})) return by_size({FB_F32, FB_F64});
    if (is_one_of({CFI_type_float_Complex, CFI_type_double_Complex})) return by_size({FB_C64, FB_C128});
    return data.type == CFI_type_char ? FB_STRING(data.elem_len) : 0;
}

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

FortranPlace fb_fortran_at(CFI_cdesc_t* data) {
    FortranPlace place{
        data->base_addr, static_cast<std::int64_t>(data->elem_len), type_of_elements(*data), data->rank, {}, {}};
    for (int dim = 0; dim < data->rank; ++dim) {
        place.extent[dim] = data->dim[dim].extent;
        place.stride_bytes[dim] = data->dim[dim].sm;
    }
    return place;
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
