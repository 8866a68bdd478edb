#include "bench/matrix/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/try.hpp"

namespace forebay::bench {

namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::size_t piece_bytes = 64u << 10;  // generated at once

// The finalizer of splitmix64 (Steele, Lea, Flood 2014): every bit of the counter changes every bit of the word.
constexpr std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
    return word ^ (word >> 31);
}

double uniform(std::uint64_t seed) { return static_cast<double>(mixed(seed) >> 11) * 0x1p-53; }

// Box and Muller.
double normal(std::uint64_t seed) {
    return std::sqrt(-2 * std::log(uniform(seed) + 1e-300)) * std::cos(6.283185307179586 * uniform(~seed));
}

BenchVariable flat(std::string name, Type type, std::uint64_t rows) {
    return {.name = std::move(name), .type = type, .row_bytes = type.size_bytes, .rows = rows};
}

std::vector<BenchVariable> columns_of(const DataShape& data, std::uint64_t bytes) {
    std::vector<BenchVariable> columns;
    for (std::uint64_t i = 0; i < data.count; ++i)
        columns.push_back(flat(fmt::format("v{}", i), data.type,
                               std::max<std::uint64_t>(1, bytes / data.count / data.type.size_bytes)));
    return columns;
}

// HACC's columns.
std::vector<BenchVariable> particles_of(const DataShape& data, std::uint64_t bytes) {
    const auto rows = data.count > 0 ? data.count : std::max<std::uint64_t>(1, bytes / 38);
    std::vector<BenchVariable> columns;
    for (const auto* name : {"x", "y", "z", "vx", "vy", "vz", "phi"}) columns.push_back(flat(name, f32, rows));
    columns.push_back(flat("id", i64, rows));
    columns.push_back(flat("mask", u16, rows));
    return columns;
}

// The restart of PALM at 4096 x 4096 x 256: 192 scalars, 57 arrays of one dimension with 1.00 GiB, 21 of two with 1.25,
// 9 of three with 258.00 and one of four with 3806 kB. Here scaled to `bytes` in all.
std::vector<BenchVariable> palm_of(std::uint64_t bytes) {
    constexpr double all = 260.25 + 3806.0 / (1 << 20);
    std::vector<BenchVariable> variables;
    for (int i = 0; i < 192; ++i) {
        variables.push_back(flat(fmt::format("scalar_{}", i), f64, 1));
        variables.back().scalar = true;
    }
    const auto add = [&](int dims, int count, double share) {
        const auto rows = static_cast<std::uint64_t>(static_cast<double>(bytes) * share / all / count / 8);
        for (int i = 0; i < count; ++i)
            variables.push_back(flat(fmt::format("a{}d_{}", dims, i), f64, std::max<std::uint64_t>(1, rows)));
    };
    add(1, 57, 1.00);
    add(2, 21, 1.25);
    add(3, 9, 258.00);
    add(4, 1, 3806.0 / (1 << 20));
    return variables;
}

BenchVariable grid_of(const std::vector<std::uint64_t>& extents) {
    BenchVariable grid = flat("field", f64, extents.front());
    for (std::size_t i = 1; i < extents.size(); ++i) {
        grid.inner.push_back(extents[i]);
        grid.row_bytes *= extents[i];
    }
    return grid;
}

}  // namespace

Content::Content(const RowSetting& setting, int ranks)
    : ranks_(ranks),
      vary_(setting.vary),
      contents_(setting.contents),
      filled_bytes_(static_cast<std::uint64_t>(static_cast<double>(page_bytes) / setting.compressible) / 8 * 8) {
    const auto all = static_cast<std::uint64_t>(ranks);
    const auto bytes = setting.size_is_total ? setting.size_bytes / all : setting.size_bytes;
    if (setting.memory == MemoryForm::block) block_bytes_ = setting.xfer_bytes;
    switch (setting.data.kind) {
        case DataShape::Kind::columns: variables_ = columns_of(setting.data, bytes); break;
        case DataShape::Kind::particles: variables_ = particles_of(setting.data, bytes); break;
        case DataShape::Kind::palm: variables_ = palm_of(bytes * all); break;
        case DataShape::Kind::grid: variables_ = {grid_of(setting.data.extents)}; break;
    }
    table_ = setting.data.kind == DataShape::Kind::columns || setting.data.kind == DataShape::Kind::particles;
}

double Content::factor(int rank, int dump) const {
    const auto seed = (static_cast<std::uint64_t>(rank) << 32) + static_cast<std::uint64_t>(dump) + 1;
    switch (vary_.kind) {
        case Vary::Kind::uniform: return 1 + vary_.amount * (2 * uniform(seed) - 1);
        case Vary::Kind::lognormal: return std::exp(vary_.amount * normal(seed) - vary_.amount * vary_.amount / 2);
        case Vary::Kind::growth: return std::pow(1 + vary_.amount, dump);
        case Vary::Kind::none: break;
    }
    return 1;
}

std::uint64_t Content::rows(std::size_t variable, int rank, int dump) const {
    const auto& about = variables_[variable];
    if (about.scalar) return rank == 0 ? 1 : 0;
    if (table_ && vary_.kind == Vary::Kind::none) return about.rows;
    if (table_) return static_cast<std::uint64_t>(std::llround(static_cast<double>(about.rows) * factor(rank, dump)));
    const auto ranks = static_cast<std::uint64_t>(ranks_), at = static_cast<std::uint64_t>(rank);
    return about.rows * (at + 1) / ranks - about.rows * at / ranks;
}

std::uint64_t Content::rows_before(std::size_t variable, int rank, int dump) const {
    std::uint64_t before = 0;
    for (int other = 0; other < rank; ++other) before += rows(variable, other, dump);
    return before;
}

std::uint64_t Content::bytes(std::size_t variable, int rank, int dump) const {
    return rows(variable, rank, dump) * variables_[variable].row_bytes;
}

std::uint64_t Content::bytes_of_rank(int rank, int dump) const {
    std::uint64_t all = 0;
    for (std::size_t v = 0; v < variables_.size(); ++v) all += bytes(v, rank, dump);
    return all;
}

std::uint64_t Content::bytes_of_all(int dump) const {
    std::uint64_t all = 0;
    for (int rank = 0; rank < ranks_; ++rank) all += bytes_of_rank(rank, dump);
    return all;
}

// Word i of a stream is mixed(key + i * odd): any byte is known without the bytes before it.
void Content::generate(const RowSpan& segment, int dump, std::uint64_t from, std::span<std::byte> bytes) const {
    if (contents_ == Fill::zero) {
        std::ranges::fill(bytes, std::byte{0});
        return;
    }
    const auto variable = block_bytes_ > 0 ? 0 : segment.variable;
    const auto key = mixed((static_cast<std::uint64_t>(segment.owner) << 40) ^ (variable << 20) ^
                           static_cast<std::uint64_t>(dump) ^ 0x5851F42D4C957F2Dull);
    for (std::size_t done = 0; done < bytes.size();) {
        auto place = from + done;
        if (block_bytes_ > 0) place %= block_bytes_;
        auto word = mixed(key + place / 8 * 0x9E3779B97F4A7C15ull);
        if (contents_ == Fill::compressible && place % page_bytes >= filled_bytes_) word = 0;
        const auto skipped = place % 8, now = std::min<std::size_t>(8 - skipped, bytes.size() - done);
        word >>= 8 * skipped;
        std::memcpy(bytes.data() + done, &word, now);
        done += now;
    }
}

void Content::fill(const RowSpan& segment, int dump) const {
    const auto row_bytes = variables_[segment.variable].row_bytes;
    const auto first = segment.row * row_bytes;
    if (segment.stride_bytes == row_bytes || segment.rows == 1) {
        generate(segment, dump, first, {segment.data, segment.rows * row_bytes});
        return;
    }
    std::vector<std::byte> piece(piece_bytes / row_bytes * row_bytes);
    for (std::uint64_t row = 0; row < segment.rows;) {
        const auto rows = std::min<std::uint64_t>(piece.size() / row_bytes, segment.rows - row);
        generate(segment, dump, first + row * row_bytes, std::span(piece).first(rows * row_bytes));
        for (std::uint64_t i = 0; i < rows; ++i)
            std::memcpy(segment.data + (row + i) * segment.stride_bytes, piece.data() + i * row_bytes, row_bytes);
        row += rows;
    }
}

Result<> Content::verify(const RowSpan& segment, int dump) const {
    const auto row_bytes = variables_[segment.variable].row_bytes;
    const auto bytes = segment.rows * row_bytes, first = segment.row * row_bytes;
    std::array<std::byte, piece_bytes> piece;
    const auto from = segment.stride_bytes == 0 && bytes > 0 ? (bytes - 1) / block_bytes_ * block_bytes_ : 0;
    for (std::uint64_t done = from; done < bytes;) {
        const auto now = std::min<std::uint64_t>(piece.size(), bytes - done);
        const auto* other = segment.data + (done - from);
        generate(segment, dump, first + done, std::span(piece).first(now));
        if (std::memcmp(piece.data(), other, now) != 0) {
            const auto place =
                static_cast<std::uint64_t>(std::mismatch(piece.data(), piece.data() + now, other).first - piece.data());
            return Error{ErrorKind::corrupt,
                         fmt::format("dump {}, variable {} of rank {}: byte {} differs from the written data", dump,
                                     variables_[segment.variable].name, segment.owner, first + done + place)};
        }
        done += now;
    }
    return {};
}

OwnMemory::OwnMemory(const Content& content, const RowSetting& setting, int rank)
    : content_(content), rank_(rank), memory_(setting.memory), block_bytes_(setting.xfer_bytes) {
    const auto& variables = content.variables();
    std::uint64_t bytes = 0;
    for (std::size_t v = 0; v < variables.size(); ++v) {
        std::uint64_t rows = 0;
        for (int dump = 0; dump < setting.dumps; ++dump) rows = std::max(rows, content.rows(v, rank, dump));
        at_.push_back(memory_ == MemoryForm::aos ? record_bytes_ : bytes);
        record_bytes_ += variables[v].row_bytes;
        bytes += (rows * variables[v].row_bytes + 63) / 64 * 64;
    }
    if (memory_ == MemoryForm::block) bytes = block_bytes_;
    start_ = buffer_.take(bytes + 64).data();
}

void OwnMemory::fill(int dump) {
    if (memory_ == MemoryForm::block) {
        const auto row_bytes = content_.variables().front().row_bytes;
        content_.fill({.owner = rank_, .rows = block_bytes_ / row_bytes, .data = start_, .stride_bytes = row_bytes},
                      dump);
        return;
    }
    for (const auto& segment : segments(dump)) content_.fill(segment, dump);
}

std::vector<RowSpan> OwnMemory::segments(int dump) {
    std::vector<RowSpan> segments;
    for (std::size_t v = 0; v < content_.variables().size(); ++v) {
        const auto row_bytes = content_.variables()[v].row_bytes;
        RowSpan segment{.variable = v, .owner = rank_, .rows = content_.rows(v, rank_, dump)};
        segment.data = start_ + (memory_ == MemoryForm::block ? 0 : at_[v]);
        segment.stride_bytes = memory_ == MemoryForm::aos     ? record_bytes_
                               : memory_ == MemoryForm::block ? 0
                                                              : row_bytes;  // 0: the same block again
        segments.push_back(segment);
    }
    return segments;
}

ReadMemory ReadMemory::of_own(const Content& content, int rank, int dump) {
    std::vector<RowSpan> segments;
    for (std::size_t v = 0; v < content.variables().size(); ++v)
        segments.push_back({.variable = v, .owner = rank, .rows = content.rows(v, rank, dump)});
    ReadMemory memory;
    memory.add(content, std::move(segments));
    return memory;
}

namespace {

// Adds the owners' segments of rows `first` to `end` of all rows.
void add_rows(const Content& content, std::size_t variable, std::uint64_t first, std::uint64_t end, int dump,
              std::vector<RowSpan>& segments) {
    std::uint64_t before = 0;
    for (int owner = 0; owner < content.ranks(); ++owner) {
        const auto rows = content.rows(variable, owner, dump);
        const auto from = std::max(first, before), to = std::min(end, before + rows);
        if (from < to)
            segments.push_back({.variable = variable, .owner = owner, .row = from - before, .rows = to - from});
        before += rows;
    }
}

}  // namespace

ReadMemory ReadMemory::of_share(const Content& content, int part, int parts, int dump) {
    std::vector<RowSpan> segments;
    const auto count = static_cast<std::uint64_t>(parts), at = static_cast<std::uint64_t>(part);
    for (std::size_t v = 0; v < content.variables().size(); ++v) {
        const auto all = content.rows_before(v, content.ranks(), dump);
        add_rows(content, v, all * at / count, all * (at + 1) / count, dump, segments);
    }
    ReadMemory memory;
    memory.add(content, std::move(segments));
    return memory;
}

ReadMemory ReadMemory::of_rows(const Content& content, std::uint64_t first, std::uint64_t rows, int dump) {
    std::vector<RowSpan> segments;
    for (std::size_t v = 0; v < content.variables().size(); ++v)
        add_rows(content, v, first, first + rows, dump, segments);
    ReadMemory memory;
    memory.add(content, std::move(segments));
    return memory;
}

void ReadMemory::add(const Content& content, std::vector<RowSpan> segments) {
    segments_ = std::move(segments);
    for (const auto& segment : segments_) bytes_ += segment.rows * content.variables()[segment.variable].row_bytes;
    const auto memory = buffer_.take((content.block_bytes() > 0 ? content.block_bytes() : bytes_) + 1);
    std::ranges::fill(memory, std::byte{0});  // its pages exist before anything is timed
    auto* place = memory.data();
    for (auto& segment : segments_) {
        segment.data = place;
        if (content.block_bytes() > 0) continue;
        segment.stride_bytes = content.variables()[segment.variable].row_bytes;
        place += segment.rows * segment.stride_bytes;
    }
}

}  // namespace forebay::bench
