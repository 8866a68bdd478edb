// The calls of forebay.h for variables, boxes and tables: each converts, calls C++, and converts back.

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bindings/api/c_binding.hpp"
#include "core/base/try.hpp"

static_assert(FB_DIMS_MAX == forebay::dims_max);
static_assert(FB_F64 == FB_TYPE(forebay::Scalar::f64, 8) && FB_STRING(9) == FB_TYPE(forebay::Scalar::string, 9));

namespace forebay::c_binding {

namespace {

Type type_of_code(fb_type code) { return {static_cast<Scalar>(code & 0xff), code >> 8}; }

Result<Extents> extents(int dims, const std::uint64_t* numbers) {
    if (dims < 0 || dims > FB_DIMS_MAX)
        return Error{ErrorKind::refused, fmt::format("{} dimensions, from 0 to {} are allowed.", dims, FB_DIMS_MAX)};
    if (dims > 0 && numbers == nullptr)
        return Error{ErrorKind::refused, fmt::format("the address of {} extents is NULL.", dims)};
    Extents result;
    for (int dim = 0; dim < dims; ++dim) result.push_back(numbers[dim]);
    return result;
}

Result<std::vector<Piece>> pieces_of(int dims, std::size_t count, const fb_piece* given) {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < count; ++i) {
        FB_TRY_ASSIGN(lo, extents(dims, given[i].lo));
        FB_TRY_ASSIGN(size, extents(dims, given[i].size));
        FB_TRY_ASSIGN(halo_lo, extents(dims, given[i].halo_lo));
        FB_TRY_ASSIGN(halo_hi, extents(dims, given[i].halo_hi));
        Piece piece{.box = {lo, size}, .data = given[i].data, .halo_lo = halo_lo, .halo_hi = halo_hi};
        std::ranges::copy(given[i].stride_bytes, piece.stride_bytes.begin());
        pieces.push_back(piece);
    }
    return pieces;
}

fb_piece piece_for_c(const Piece& piece) {
    fb_piece result{};
    result.data = piece.data;
    for (int dim = 0; dim < piece.box.size.dims(); ++dim) {
        result.lo[dim] = piece.box.lo[dim];
        result.size[dim] = piece.box.size[dim];
        result.stride_bytes[dim] = piece.stride_bytes[static_cast<std::size_t>(dim)];
        if (dim < piece.halo_lo.dims()) result.halo_lo[dim] = piece.halo_lo[dim];
        if (dim < piece.halo_hi.dims()) result.halo_hi[dim] = piece.halo_hi[dim];
    }
    return result;
}

AttributeValue value_of(const fb_attribute& attribute) {
    switch (attribute.kind) {
        case FB_REAL: return attribute.real;
        case FB_INTEGER: return attribute.integer;
        case FB_TEXT: break;
    }
    return text_or_empty(attribute.text);
}

Attributes attributes_of(const fb_attributes* given) {
    Attributes result;
    if (given == nullptr) return result;
    result.unit = text_or_empty(given->unit);
    result.description = text_or_empty(given->description);
    for (std::size_t i = 0; i < given->dimension_count; ++i)
        result.dimensions.push_back(text_or_empty(given->dimensions[i]));
    for (std::size_t i = 0; i < given->other_count; ++i)
        result.others.emplace_back(text_or_empty(given->others[i].name), value_of(given->others[i]));
    return result;
}

std::vector<ColumnData> column_data(std::size_t count, const fb_column_data* given) {
    std::vector<ColumnData> result;
    for (std::size_t i = 0; i < count; ++i) result.emplace_back(given[i].data, given[i].stride_bytes);
    return result;
}

fb_status replicated(fb_stream* stream, const char* name, fb_type type, int dims, const std::uint64_t* shape,
                     void* data, const fb_attributes* attributes, Replicated which, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        FB_TRY_ASSIGN(extent, extents(dims, shape));
        return stream->value.replicated(text_or_empty(name), type_of_code(type), extent, data,
                                        attributes_of(attributes), which);
    });
}

}  // namespace

}  // namespace forebay::c_binding

using namespace forebay;
using namespace forebay::c_binding;

fb_piece fb_packed(int dims, const uint64_t* lo, const uint64_t* size, fb_type type, void* data) {
    const std::vector<std::uint64_t> none(FB_DIMS_MAX);
    return fb_with_halo(dims, lo, size, none.data(), type, data);
}

fb_piece fb_with_halo(int dims, const uint64_t* lo, const uint64_t* size, const uint64_t* halo, fb_type type,
                      void* allocation) {
    const auto at = extents(dims, lo), extent = extents(dims, size), around = extents(dims, halo);
    if (!at || !extent || !around) return {};  // an empty piece; the call that gets it refuses the dimensions
    return piece_for_c(with_halo({*at, *extent}, *around, type_of_code(type), allocation));
}

fb_status fb_replicated(fb_stream* stream, const char* name, fb_type type, int dims, const uint64_t* shape, void* data,
                        const fb_attributes* attributes, fb_error* error) {
    return replicated(stream, name, type, dims, shape, data, attributes, Replicated::equal, error);
}

fb_status fb_replicated_first_rank(fb_stream* stream, const char* name, fb_type type, int dims, const uint64_t* shape,
                                   void* data, const fb_attributes* attributes, fb_error* error) {
    return replicated(stream, name, type, dims, shape, data, attributes, Replicated::first_rank, error);
}

fb_status fb_array(fb_stream* stream, const char* name, fb_type type, int dims, const uint64_t* shape,
                   size_t piece_count, const fb_piece* pieces, const fb_attributes* attributes, fb_coverage coverage,
                   fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        FB_TRY_ASSIGN(extent, extents(dims, shape));
        FB_TRY_ASSIGN(boxes, pieces_of(dims, piece_count, pieces));
        return stream->value.array(text_or_empty(name), type_of_code(type), extent, std::move(boxes),
                                   attributes_of(attributes),
                                   coverage == FB_COVERAGE_FULL ? Coverage::full : Coverage::partial);
    });
}

fb_status fb_rebind_array(fb_stream* stream, const char* name, int dims, size_t piece_count, const fb_piece* pieces,
                          fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        FB_TRY_ASSIGN(boxes, pieces_of(dims, piece_count, pieces));
        return stream->value.rebind(text_or_empty(name), std::move(boxes));
    });
}

fb_status fb_rebind_replicated(fb_stream* stream, const char* name, void* data, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        return stream->value.rebind(text_or_empty(name), data);
    });
}

fb_status fb_forget(fb_stream* stream, const char* name, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        return stream->value.forget(text_or_empty(name));
    });
}

fb_status fb_particles_describe(fb_stream* stream, const char* name, size_t column_count, const fb_column* columns,
                                fb_particles** particles, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        std::vector<Column> described;
        for (std::size_t i = 0; i < column_count; ++i)
            described.push_back(
                {text_or_empty(columns[i].name), type_of_code(columns[i].type), attributes_of(columns[i].attributes)});
        FB_TRY_ASSIGN(table, stream->value.particles(text_or_empty(name), described));
        *particles = new fb_particles{std::move(table)};
        return {};
    });
}

fb_status fb_particles_bind(fb_particles* particles, uint64_t rows, size_t column_count, const fb_column_data* columns,
                            fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(particles, "fb_particles"));
        return particles->value.bind(rows, column_data(column_count, columns));
    });
}
