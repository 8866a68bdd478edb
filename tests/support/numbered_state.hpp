// A simulation state in which every byte follows from the variable, the position and the step. It is filled before a
// save and compared bit by bit after a restart on any number of ranks.

#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/describe/geometry.hpp"
#include "forebay/forebay.hpp"

namespace forebay::test {

// The fill of bytes that no save or restart may overwrite: halos outside the global shape, holes, struct padding.
inline constexpr std::byte untouched{0xA5};

inline std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

/// The bytes of element `index` of variable `seed` at `step`. Any bit pattern can occur, also NaNs.
inline std::vector<std::byte> element_of(std::uint64_t seed, std::uint64_t index, std::int64_t step,
                                         std::uint32_t size_bytes) {
    std::vector<std::byte> bytes(size_bytes);
    const auto start = mixed(mixed(seed) ^ mixed(index + 1) ^ static_cast<std::uint64_t>(step));
    for (std::uint32_t i = 0; i < size_bytes; ++i)
        bytes[i] = static_cast<std::byte>(mixed(start + i / 8) >> (i % 8 * 8));
    return bytes;
}

struct FieldSpec {
    std::string name;
    Type type;
    Extents shape;
    Extents tile;  // boxes are tiles of this size, dealt to the ranks and cut at the end of the shape
    Extents halo;
    Coverage coverage = Coverage::full;  // partial: nobody owns every third element of the slowest dimension
};

/// One rank's boxes of an array. Each box has its own allocation with halo.
class Field {
public:
    Field(FieldSpec spec, std::uint64_t seed, int rank, int ranks) : spec_(std::move(spec)), seed_(seed) {
        const int dims = spec_.shape.dims();
        Extents at;
        for (int dim = 0; dim < dims; ++dim) at.push_back(0);
        for (std::uint64_t number = 0; at[0] < spec_.shape[0]; ++number) {
            Box box{at, spec_.tile};
            for (int dim = 0; dim < dims; ++dim) box.size[dim] = std::min(box.size[dim], spec_.shape[dim] - at[dim]);
            // An odd multiplier deals neighbouring tiles to different ranks and leaves some ranks without tiles.
            if (saved(at[0]) &&
                (number * 3 + 1) % static_cast<std::uint64_t>(ranks) == static_cast<std::uint64_t>(rank))
                add(box);
            for (int dim = dims - 1; dim >= 0; --dim) {
                at[dim] += spec_.tile[dim];
                if (at[dim] < spec_.shape[dim] || dim == 0) break;
                at[dim] = 0;
            }
        }
    }

    std::vector<Piece> pieces() {
        std::vector<Piece> all;
        for (std::size_t i = 0; i < boxes_.size(); ++i)
            all.push_back(with_halo(boxes_[i], spec_.halo, spec_.type, memory_[i].data()));
        return all;
    }
    const FieldSpec& spec() const { return spec_; }
    std::size_t boxes() const { return boxes_.size(); }

    /// Fills the boxes with their values and everything around them with `untouched`.
    void fill(std::int64_t step) {
        visit([&](std::byte* at, const Extents& where, bool in_box) {
            if (in_box) std::ranges::copy(expected(where, step), at);
            else std::fill_n(at, spec_.type.size_bytes, untouched);
        });
    }
    void clear() {
        for (auto& memory : memory_) std::ranges::fill(memory, untouched);
    }
    /// The number of elements that differ from the values after a restart of `step`.
    std::uint64_t wrong(std::int64_t step) {
        std::uint64_t count = 0;
        const std::vector<std::byte> outside(spec_.type.size_bytes, untouched);
        visit([&](std::byte* at, const Extents& where, bool) {
            const auto& right = in_shape(where) && saved(where[0]) ? expected(where, step) : outside;
            if (std::memcmp(at, right.data(), right.size()) != 0) ++count;
        });
        return count;
    }

private:
    void add(const Box& box) {
        std::uint64_t elements = 1;
        for (int dim = 0; dim < box.size.dims(); ++dim) elements *= box.size[dim] + 2 * spec_.halo[dim];
        boxes_.push_back(box);
        memory_.emplace_back(elements * spec_.type.size_bytes, untouched);
    }
    bool saved(std::uint64_t slowest) const { return spec_.coverage == Coverage::full || slowest % 3 != 1; }
    // A position before the shape's begin wraps around to a number past its end.
    bool in_shape(const Extents& where) const {
        for (int dim = 0; dim < where.dims(); ++dim)
            if (where[dim] >= spec_.shape[dim]) return false;
        return true;
    }
    std::vector<std::byte> expected(const Extents& where, std::int64_t step) const {
        std::uint64_t index = 0;
        for (int dim = 0; dim < where.dims(); ++dim) index = index * spec_.shape[dim] + where[dim];
        return element_of(seed_, index, step, spec_.type.size_bytes);
    }
    // Visits every element of every allocation with its global position.
    template <class Visit>
    void visit(Visit&& each) {
        for (std::size_t i = 0; i < boxes_.size(); ++i) {
            const auto& box = boxes_[i];
            const auto elements = memory_[i].size() / spec_.type.size_bytes;
            for (std::uint64_t element = 0; element < elements; ++element) {
                Extents where = box.lo;
                bool in_box = true;
                auto rest = element;
                for (int dim = where.dims() - 1; dim >= 0; --dim) {
                    const auto width = box.size[dim] + 2 * spec_.halo[dim];
                    const auto local = rest % width;
                    rest /= width;
                    where[dim] = box.lo[dim] + local - spec_.halo[dim];
                    in_box = in_box && local >= spec_.halo[dim] && local < spec_.halo[dim] + box.size[dim];
                }
                each(memory_[i].data() + element * spec_.type.size_bytes, where, in_box);
            }
        }
    }

    FieldSpec spec_;
    std::uint64_t seed_;
    std::vector<Box> boxes_;
    std::vector<std::vector<std::byte>> memory_;
};

/// A value that all ranks share.
class Value {
public:
    Value(std::string name, Type type, Extents shape, std::uint64_t seed)
        : name_(std::move(name)),
          type_(type),
          shape_(shape),
          seed_(seed),
          memory_(volume(shape) * type.size_bytes, untouched) {}
    void describe(Stream& stream) { stream.replicated(name_, type_, shape_, memory_.data()).value(); }
    void fill(std::int64_t step) { std::ranges::copy(right(step), memory_.begin()); }
    void clear() { std::ranges::fill(memory_, untouched); }
    bool is_right(std::int64_t step) const { return memory_ == right(step); }
    const std::string& name() const { return name_; }

private:
    std::vector<std::byte> right(std::int64_t step) const {
        return element_of(seed_, 0, step, static_cast<std::uint32_t>(memory_.size()));
    }
    std::string name_;
    Type type_;
    Extents shape_;
    std::uint64_t seed_;
    std::vector<std::byte> memory_;
};

/// A particle table. Column 0 is the i64 id, and the other columns follow from it. The rows are an array of structs, or
/// each column is an array.
class Table {
public:
    Table(std::string name, std::vector<Column> columns, bool structs)
        : name_(std::move(name)), columns_(std::move(columns)), structs_(structs) {
        for (const auto& column : columns_) row_bytes_ += round_up(column.type.size_bytes, 8);
    }
    const std::string& name() const { return name_; }
    const std::vector<Column>& columns() const { return columns_; }

    static std::uint64_t rows_of(int rank, std::int64_t step) {
        return rank % 3 == 1 ? 0 : static_cast<std::uint64_t>((rank * 7 + step * 5) % 23);
    }
    static std::int64_t id_of(int rank, std::uint64_t row) { return rank * 1000 + static_cast<std::int64_t>(row); }

    void fill(int rank, std::int64_t step) {
        clear(rows_of(rank, step));
        for (std::uint64_t row = 0; row < rows_; ++row) {
            const auto id = id_of(rank, row);
            std::memcpy(at(0, row), &id, sizeof(id));
            for (std::size_t c = 1; c < columns_.size(); ++c) std::ranges::copy(right(c, id, step), at(c, row));
        }
    }
    void clear(std::uint64_t rows) {
        rows_ = rows;
        memory_.assign(rows * row_bytes_, untouched);
    }
    Result<> bind(Particles& particles) {
        std::vector<ColumnData> data;
        for (std::size_t c = 0; c < columns_.size(); ++c)
            data.emplace_back(rows_ == 0 ? nullptr : at(c, 0), structs_ ? static_cast<std::int64_t>(row_bytes_) : 0);
        return particles.bind(rows_, std::move(data));
    }
    std::uint64_t rows() const { return rows_; }
    std::int64_t id(std::uint64_t row) {
        std::int64_t id = 0;
        std::memcpy(&id, at(0, row), sizeof(id));
        return id;
    }
    /// The number of values that do not follow from the id of their row.
    std::uint64_t wrong(std::int64_t step) {
        std::uint64_t count = 0;
        for (std::uint64_t row = 0; row < rows_; ++row)
            for (std::size_t c = 1; c < columns_.size(); ++c)
                if (!std::ranges::equal(right(c, id(row), step), std::span(at(c, row), columns_[c].type.size_bytes)))
                    ++count;
        return count;
    }

private:
    std::vector<std::byte> right(std::size_t column, std::int64_t id, std::int64_t step) const {
        return element_of(1000 + column, static_cast<std::uint64_t>(id), step, columns_[column].type.size_bytes);
    }
    std::byte* at(std::size_t column, std::uint64_t row) {
        std::uint64_t before = 0;
        for (std::size_t c = 0; c < column; ++c)
            before += structs_ ? round_up(columns_[c].type.size_bytes, 8) : columns_[c].type.size_bytes * rows_;
        return memory_.data() + before + row * (structs_ ? row_bytes_ : columns_[column].type.size_bytes);
    }

    std::string name_;
    std::vector<Column> columns_;
    bool structs_;
    std::uint64_t row_bytes_ = 0;
    std::uint64_t rows_ = 0;
    std::vector<std::byte> memory_;
};

/// Fields of 1 to 4 dimensions, two tables, replicated values and strings. Every element type occurs. Some ranks have
/// several boxes and some none. `coarse` selects different tiles, so that the boxes of a restart differ from the saved
/// boxes.
class NumberedState {
public:
    NumberedState(int rank, int ranks, bool coarse) : rank_(rank), ranks_(ranks) {
        const auto tile = [&](Extents fine, Extents other) { return coarse ? other : fine; };
        const FieldSpec specs[] = {
            {"line", i16, {97}, tile({5}, {11}), {2}},
            {"fields/u", f64, {13, 9}, tile({1, 9}, {4, 5}), {1, 1}},
            {"fields/w", c64, {4, 5, 6}, tile({2, 2, 3}, {1, 5, 4}), {1, 0, 2}},
            {"fields/deep", u8, {3, 2, 4, 2}, tile({1, 2, 2, 1}, {3, 1, 1, 2}), {1, 1, 1, 1}},
            {"fields/holes", f32, {11, 3}, {1, 2}, {1, 0}, Coverage::partial},
            {"few", u64, {3}, {1}, {0}},  // most ranks own no element of it
            {"half", f16, {6, 2}, tile({2, 1}, {3, 2}), {0, 0}},
            {"wide", c128, {7}, tile({2}, {3}), {1}},
            {"label", string_of(9), {5}, tile({1}, {2}), {0}},
        };
        for (const auto& spec : specs) fields.emplace_back(spec, fields.size(), rank, ranks);
        const std::pair<const char*, Type> scalars[] = {
            {"n/i8", i8},   {"n/i16", i16}, {"n/i32", i32},   {"n/i64", i64},           {"n/u8", u8},
            {"n/u16", u16}, {"n/u32", u32}, {"n/u64", u64},   {"n/f16", f16},           {"n/f32", f32},
            {"n/f64", f64}, {"n/c64", c64}, {"n/c128", c128}, {"n/name", string_of(16)}};
        for (const auto& [name, type] : scalars) values.emplace_back(name, type, Extents{}, 100 + values.size());
        values.emplace_back("n/names", string_of(5), Extents{3}, 200);
        values.emplace_back("n/matrix", f64, Extents{3, 3}, 201);
        tables.emplace_back("dm", std::vector<Column>{{"id", i64}, {"x", f32}, {"mask", u16}, {"tag", string_of(3)}},
                            false);
        tables.emplace_back("stars", std::vector<Column>{{"id", i64}, {"pos", f64}, {"kind", i8}, {"phase", c64}},
                            true);
    }

    void describe(Stream& stream) {
        for (auto& value : values) value.describe(stream);
        for (auto& field : fields)
            stream
                .array(field.spec().name, field.spec().type, field.spec().shape, field.pieces(), {},
                       field.spec().coverage)
                .value();
        for (auto& table : tables) particles.push_back(stream.particles(table.name(), table.columns()).value());
    }
    void fill(std::int64_t step) {
        for (auto& value : values) value.fill(step);
        for (auto& field : fields) field.fill(step);
        for (std::size_t t = 0; t < tables.size(); ++t) {
            tables[t].fill(rank_, step);
            tables[t].bind(particles[t]).value();
        }
    }
    /// Clears all values and binds the rows that the restart assigns to this rank.
    void expect(const Restart& restart) {
        for (auto& value : values) value.clear();
        for (auto& field : fields) field.clear();
        for (std::size_t t = 0; t < tables.size(); ++t) {
            tables[t].clear(restart.rows(particles[t]));
            tables[t].bind(particles[t]).value();
        }
    }
    int ranks() const { return ranks_; }

    std::vector<Field> fields;
    std::vector<Value> values;
    std::vector<Table> tables;
    std::vector<Particles> particles;

private:
    int rank_, ranks_;
};

}  // namespace forebay::test
