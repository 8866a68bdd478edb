// Checks that all ranks have the same description and that their boxes fit together. The usual case costs a few small
// collective calls with any number of ranks: one compares a checksum of the description, one compares sums over the
// boxes.
//
// check_coverage() gives each cell of an array a random weight (describe/coverage.hpp). If the weights of all boxes,
// added modulo 2^61 - 1, equal the weight of the whole array, every cell is covered once. Only if they differ, or if
// the array may have holes, do the ranks exchange their boxes to find and report two that overlap.

#include "path/stage/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/coverage.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/node_file.hpp"
#include "core/sys/machine.hpp"

namespace forebay::stage {

namespace {

std::string show(const Extents& extents) {
    std::string text;
    for (int dim = 0; dim < std::min(extents.dims(), dims_max); ++dim)
        text += fmt::format("{}{}", dim > 0 ? ", " : "", extents[dim]);
    return "{" + text + "}";
}

std::string show(const Box& box) { return fmt::format("box {} of size {}", show(box.lo), show(box.size)); }

Error refusal(const Variable& variable, const std::string& why) {
    return {ErrorKind::refused, fmt::format("variable '{}' is refused: {}", variable.name, why)};
}

Result<> check_own_pieces(const Variable& variable, const std::vector<Piece>& pieces) {
    if (pieces.size() > limits::pieces_per_rank_max)
        return refusal(variable, fmt::format("{} boxes on one rank, at most {} are allowed", pieces.size(),
                                             limits::pieces_per_rank_max));
    for (const auto& piece : pieces) {
        FB_TRY(check_box(variable, piece.box));
        if (piece.data == nullptr) return refusal(variable, fmt::format("{} has no address", show(piece.box)));
    }
    return {};
}

Result<> check_own(const Schema& schema, const describe::Binding& binding) {
    FB_TRY(check_described(schema));
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const auto& variable = schema.variables[v];
        if (variable.kind == Kind::array) FB_TRY(check_own_pieces(variable, binding.pieces[v]));
        if (variable.kind == Kind::replicated && binding.data[v] == nullptr && variable.elements() > 0)
            return refusal(variable, "it has no address");
    }
    return {};
}

// `first` is rank 0's text: its schema, and a line with a digit for each variable, 1 for the first rank's variables.
Result<> compare(const Schema& schema, const describe::Binding& binding, std::string_view first) {
    const auto end = first.rfind('\n');
    const auto whose = first.substr(end + 1);
    FB_TRY_ASSIGN(theirs, format::schema_from_json(first.substr(0, end)));
    if (theirs.variables.size() != schema.variables.size())
        return Error{
            ErrorKind::refused,
            fmt::format("stream '{}': this rank describes {} variables, rank 0 describes {}. Every rank must describe "
                        "the same variables in the same order. A rank without data gives no boxes or 0 rows.",
                        schema.stream, schema.variables.size(), theirs.variables.size())};
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const auto& own = schema.variables[v];
        const auto& other = theirs.variables[v];
        const bool first_ranks = binding.is_first_ranks(v), is_alike = first_ranks == (whose[v] == '1');
        if (own == other && is_alike) continue;
        if (own == other)
            return refusal(own, fmt::format("it is a first_rank variable only {}", first_ranks ? "here" : "on rank 0"));
        return refusal(
            own, fmt::format("it is {} {} {} here, but '{}', {} {} {}, on rank 0 (or their attributes differ)",
                             name_of(own.type), name_of(own.kind), show(own.shape), other.name, name_of(other.type),
                             name_of(other.kind), show(other.shape)));
    }
    return {};
}

// The schema, as files hold it, does not mark the first rank's variables. So a line of digits follows it.
std::string text_to_compare(const Schema& schema, const describe::Binding& binding) {
    auto text = format::schema_json(schema) + '\n';
    for (std::size_t v = 0; v < schema.variables.size(); ++v) text += binding.is_first_ranks(v) ? '1' : '0';
    return text;
}

// Compares every rank's schema with rank 0's and reports the first variable that differs. `own` is this rank's text.
Result<> check_same_schema(comm::Group& world, const Schema& schema, const describe::Binding& binding,
                           std::string& own) {
    const std::int64_t sum = crc32c(bytes_of(own));
    // The maxima of a number and of its negative are opposite only if all ranks have the same number.
    std::int64_t extremes[] = {sum, -sum, static_cast<std::int64_t>(own.size()),
                               -static_cast<std::int64_t>(own.size())};
    world.max(extremes);
    if (extremes[0] == -extremes[1] && extremes[2] == -extremes[3]) return {};

    std::string first;
    if (world.rank() == 0) first.swap(own);
    FB_TRY(world.broadcast_sized(first, 0));
    FB_TRY(comm::agree(world, [&] { return compare(schema, binding, first); }));
    return Error{ErrorKind::refused,
                 fmt::format("stream '{}': the ranks describe it differently (stream or table names).", schema.stream)};
}

// Uses every rank's boxes of the variable. Only for arrays with partial coverage and to explain errors.
Result<> check_overlap(comm::Group& world, const Variable& variable, const std::vector<Piece>& pieces) {
    std::vector<Box> own;
    FB_TRY(comm::agree(world, [&] {
        for (const auto& piece : pieces) own.push_back(piece.box);
    }));
    FB_TRY_ASSIGN(strings, world.gather_all_sized(std::as_bytes(std::span(own))));
    return comm::agree(world, [&]() -> Result<> {
        std::vector<Box> boxes;
        std::vector<std::size_t> ranks;
        for (std::size_t rank = 0; rank < strings.size(); ++rank) {
            for (std::size_t at = 0; at < strings[rank].size(); at += sizeof(Box)) {
                boxes.push_back(load_le<Box>(strings[rank].data() + at));
                ranks.push_back(rank);
            }
        }
        const auto [a, b] = find_overlap(boxes);
        if (a == b) return {};
        return refusal(variable, fmt::format("{} of rank {} and {} of rank {} overlap", show(boxes[a]), ranks[a],
                                             show(boxes[b]), ranks[b]));
    });
}

// `sums` is empty and has room for three numbers for each variable.
Result<> check_coverage(comm::Group& world, const Schema& schema, const describe::Binding& binding,
                        std::vector<std::int64_t>& sums) {
    std::uint64_t seed = sys::random_u64();
    world.broadcast(std::as_writable_bytes(std::span(&seed, 1)), 0);
    // A sum modulo 2^61 - 1 over any number of ranks: two halves that cannot overflow. Then the number of cells.
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        if (schema.variables[v].kind != Kind::array) continue;
        std::uint64_t weight = 0;
        std::uint64_t cells = 0;
        for (const auto& piece : binding.pieces[v]) {
            weight = add_weights(weight, cell_weight(piece.box, seed));
            cells += volume(piece.box.size);
        }
        sums.insert(sums.end(), {static_cast<std::int64_t>(weight & 0x7FFFFFFFu),
                                 static_cast<std::int64_t>(weight >> 31), static_cast<std::int64_t>(cells)});
    }
    world.sum(sums);
    std::size_t at = 0;
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const auto& variable = schema.variables[v];
        if (variable.kind != Kind::array) continue;
        const auto low = static_cast<std::uint64_t>(sums[at]), high = static_cast<std::uint64_t>(sums[at + 1]);
        const auto cells = static_cast<std::uint64_t>(sums[at + 2]);
        at += 3;
        Box whole{.size = variable.shape};
        for (int dim = 0; dim < variable.shape.dims(); ++dim) whole.lo.push_back(0);
        // Computes 2^31 * high modulo 2^61 - 1: the upper bits of high wrap around.
        std::uint64_t weight = low % ((std::uint64_t{1} << 61) - 1);
        for (int bit = 0; bit < 62; ++bit) {
            if (((high >> bit) & 1) == 0) continue;
            weight = add_weights(weight, std::uint64_t{1} << ((bit + 31) % 61));
        }
        if (variable.coverage == Coverage::full && weight == cell_weight(whole, seed)) continue;
        FB_TRY(check_overlap(world, variable, binding.pieces[v]));
        if (variable.coverage == Coverage::full)
            return refusal(variable, fmt::format("the boxes of all ranks hold {} of {} elements of the global shape "
                                                 "{}. If you want holes, describe its coverage as partial",
                                                 cells, variable.elements(), show(variable.shape)));
    }
    return {};
}

}  // namespace

Result<> check_box(const Variable& variable, const Box& box) {
    const auto& shape = variable.shape;
    if (box.lo.dims() != shape.dims() || box.size.dims() != shape.dims())
        return refusal(variable,
                       fmt::format("{} does not have the dimensions of the global shape {}", show(box), show(shape)));
    if (volume(box.size) > 0 && !inside(box, shape))
        return refusal(variable, fmt::format("{} lies outside the global shape {}", show(box), show(shape)));
    return {};
}

Result<> check_together(comm::Group& world, const Schema& schema, const describe::Binding& binding) {
    std::string own;
    std::vector<std::int64_t> sums;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY(check_own(schema, binding));
        own = text_to_compare(schema, binding);
        sums.reserve(3 * schema.variables.size());
        return {};
    }));
    FB_TRY(check_same_schema(world, schema, binding, own));
    return check_coverage(world, schema, binding, sums);
}

Result<> check_h5part(const Schema& schema) {
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused, fmt::format("stream '{}': file = \"shared-h5part\" {}", schema.stream, why),
                     "", "file = \"shared\""};
    };
    if (schema.tables.size() != 1)
        return refuse(
            fmt::format("needs a stream with one particle table, but this stream has {}.", schema.tables.size()));
    for (const auto& variable : schema.variables)
        if (variable.kind != Kind::particles && variable.name.starts_with("Step#"))
            return refuse(fmt::format("uses the group name of variable '{}'.", variable.name));
    return {};
}

}  // namespace forebay::stage
