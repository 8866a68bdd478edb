#include "bench/memory.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/sys/store.hpp"

namespace forebay::bench {

Result<MemcpyLimit> MemcpyLimit::open(Ranks& ranks, const std::string& path, const BenchTable& table) {
    MemcpyLimit limit;
    const auto rows = ranks.gather_on_node(table.rows_max());
    limit.column_rows_ = round_up(std::accumulate(rows.begin(), rows.end(), std::uint64_t{0}), limits::page_bytes);
    const auto take = [&](Result<sys::Mapping> mapping) -> Result<> {
        if (!mapping) return mapping.error();
        limit.mapping_ = std::move(*mapping);
        return {};
    };
    const bool leads = ranks.node().rank() == 0;
    FB_TRY(
        ranks.agree(leads ? take(sys::Mapping::create(path, limit.column_rows_ * BenchTable::row_bytes)) : Result<>()));
    FB_TRY(ranks.agree(leads ? Result<>() : take(sys::Mapping::open(path, true))));
    FB_TRY(ranks.agree(limit.mapping_.prefault(0, limit.mapping_.bytes().size())));
    return limit;
}

void MemcpyLimit::place(Ranks& ranks, std::uint64_t rows) {
    const auto all = ranks.gather_on_node(rows);
    rows_ = rows;
    rows_before_ = std::accumulate(all.begin(), all.begin() + ranks.node().rank(), std::uint64_t{0});
}

std::span<std::byte> MemcpyLimit::place_of(std::size_t column) {
    std::uint64_t row_bytes_before = 0;
    for (std::size_t c = 0; c < column; ++c) row_bytes_before += BenchTable::element_bytes[c];
    const auto bytes = BenchTable::element_bytes[column];
    return mapping_.bytes().subspan(column_rows_ * row_bytes_before + rows_before_ * bytes, rows_ * bytes);
}

void MemcpyLimit::copy_in(BenchTable& table) {
    for (std::size_t c = 0; c < BenchTable::columns; ++c)
        std::memcpy(place_of(c).data(), table.column(c, rows_).data(), place_of(c).size());
}

void MemcpyLimit::copy_in(BenchTable& table, sys::Crew& crew, std::uint64_t pieces) {
    crew.each(BenchTable::columns * pieces, crew.threads(), [&](std::uint64_t i) {
        const auto to = place_of(i / pieces);
        const auto from = table.column(i / pieces, rows_);
        const auto size = round_up(to.size() / pieces + 1, limits::cache_line_bytes);
        const auto first = std::min<std::uint64_t>(i % pieces * size, to.size());
        std::memcpy(to.data() + first, from.data() + first, std::min<std::uint64_t>(size, to.size() - first));
    });
}

void MemcpyLimit::copy_out(BenchTable& table) {
    for (std::size_t c = 0; c < BenchTable::columns; ++c)
        std::memcpy(table.column(c, rows_).data(), place_of(c).data(), place_of(c).size());
}

Result<double> timed_write(Ranks& ranks, const std::string& path, BenchTable& table, std::uint64_t rows) {
    auto& store = sys::posix_store();
    const auto own = path + "." + std::to_string(ranks.rank());
    const auto write = [&]() -> Result<> {
        FB_TRY_ASSIGN(file, store.open(own, sys::Access::create));
        std::uint64_t at = 0;
        for (std::size_t c = 0; c < BenchTable::columns; ++c) {
            FB_TRY(file->write(at, table.column(c, rows)));
            at += table.column(c, rows).size();
        }
        return file->close();
    };
    FB_TRY_ASSIGN(seconds, ranks.timed(write));
    FB_TRY(ranks.agree(store.remove(own)));
    return seconds;
}

}  // namespace forebay::bench
