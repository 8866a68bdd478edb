// Goal: every byte of a dump has one place in one file and one right value for every rank. Shares of other ranks cover
// all bytes. Targets are filled evenly.
// Method: 1, 2, 3, 5 and 17 ranks, all kinds of data and layouts. Each byte of each file is claimed once.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "bench/matrix/placement.hpp"

using namespace forebay;
using namespace forebay::bench;

namespace {

RowSetting setting_of(const Words& words) {
    auto setting = setting_from(words);
    REQUIRE(setting);
    return *setting;
}

std::vector<int> pairs(int ranks) {
    std::vector<int> nodes;
    for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / 2);
    return nodes;
}

// Marks the bytes of each file that are claimed. A count above 1 is a double claim.
void claim(const std::vector<Located>& pieces, std::map<int, std::vector<int>>& files) {
    for (const auto& piece : pieces) {
        auto& file = files[piece.file];
        if (file.size() < piece.offset + piece.bytes) file.resize(piece.offset + piece.bytes, 0);
        for (std::uint64_t i = 0; i < piece.bytes; ++i) ++file[piece.offset + i];
    }
}

}  // namespace

TEST_CASE("placement: each byte of each file belongs to one rank, in every layout") {
    for (const int ranks : {1, 2, 3, 5, 17})
        for (const auto* data : {"3xu8", "particles", "grid:7x5", "palm"})
            for (const auto* layout : {"shared", "node", "rank", "groups:2"}) {
                const bool varies = std::string(data) == "3xu8" || std::string(data) == "particles";
                const auto setting = setting_of({{"data", data},
                                                 {"layout", layout},
                                                 {"size", "3000"},
                                                 {"dumps", "2"},
                                                 {"vary", varies ? "15%" : "0"}});
                const Content content(setting, ranks);
                const FilePlacement placement(content, setting, pairs(ranks), {"/t"}, "r");
                for (int dump = 0; dump < 2; ++dump) {
                    std::map<int, std::vector<int>> files;
                    for (int rank = 0; rank < ranks; ++rank)
                        claim(placement.located(ReadMemory::of_own(content, rank, dump).segments(), dump), files);
                    std::uint64_t all = 0;
                    for (const auto& [file, claims] : files) {
                        CHECK(claims.size() == placement.file_bytes(file, dump));
                        CHECK(std::ranges::all_of(claims, [](int times) { return times == 1; }));
                        all += claims.size();
                    }
                    CHECK(all == content.bytes_of_all(dump));
                }
            }
}

TEST_CASE("content: shares of any number of readers are what the writers wrote, no more and no less") {
    const auto setting =
        setting_of({{"data", "particles"}, {"size", "5000"}, {"vary", "lognormal:0.3"}, {"mem", "aos"}});
    const Content content(setting, 5);
    const FilePlacement placement(content, setting, pairs(5), {"/t"}, "r");
    // A file in memory.
    std::vector<std::byte> file(placement.file_bytes(0, 0));
    for (int rank = 0; rank < 5; ++rank) {
        OwnMemory memory(content, setting, rank);
        memory.fill(0);
        for (const auto& piece : placement.located(memory.segments(0), 0)) {
            const auto row_bytes = content.variables()[piece.segment.variable].row_bytes;
            for (std::uint64_t row = 0; row < piece.segment.rows; ++row)
                std::copy_n(piece.segment.data + row * piece.segment.stride_bytes, row_bytes,
                            file.begin() + static_cast<std::ptrdiff_t>(piece.offset + row * row_bytes));
        }
    }
    for (const int readers : {1, 2, 3, 5, 17}) {
        std::uint64_t bytes = 0;
        for (int reader = 0; reader < readers; ++reader) {
            auto memory = ReadMemory::of_share(content, reader, readers, 0);
            bytes += memory.bytes();
            for (const auto& piece : placement.located(memory.segments(), 0)) {
                std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(piece.offset), piece.bytes, piece.segment.data);
                CHECK(content.verify(piece.segment, 0));
                CHECK_FALSE(content.verify(piece.segment, 1));
                piece.segment.data[piece.bytes - 1] ^= std::byte{1};
                CHECK_FALSE(content.verify(piece.segment, 0));
            }
        }
        CHECK(bytes == content.bytes_of_all(0));
    }
}

TEST_CASE("content: compressible data are so, zero data are zero, and a block stands for all of them") {
    const auto quarter = setting_of({{"size", "64K"}, {"fill", "compressible:4"}});
    const Content content(quarter, 1);
    OwnMemory memory(content, quarter, 0);
    memory.fill(0);
    const auto segment = memory.segments(0).front();
    const auto zeros = std::count(segment.data, segment.data + segment.rows, std::byte{0});
    CHECK(zeros > 64 * 1024 * 3 / 4 - 1);
    CHECK(zeros < 64 * 1024 * 3 / 4 + 400);
    const auto blocks = setting_of({{"size", "64K"}, {"mem", "block"}, {"xfer", "4K"}});
    const Content repeated(blocks, 1);
    OwnMemory block(repeated, blocks, 0);
    block.fill(0);
    auto back = ReadMemory::of_own(repeated, 0, 0);
    const auto written = block.segments(0).front(), read = back.segments().front();
    CHECK(written.stride_bytes == 0);
    std::copy_n(written.data, 4096, read.data);
    CHECK(repeated.verify(read, 0));
    read.data[17] ^= std::byte{1};
    CHECK_FALSE(repeated.verify(read, 0));
}

TEST_CASE("content: growth, variation and palm's variables are as they are told") {
    const Content growing(setting_of({{"size", "1000"}, {"vary", "growth:10%"}, {"dumps", "3"}}), 2);
    CHECK(growing.bytes_of_rank(0, 0) == 1000);
    CHECK(growing.bytes_of_rank(1, 2) == 1210);
    const Content varied(setting_of({{"size", "100000"}, {"vary", "15%"}}), 17);
    for (int rank = 0; rank < 17; ++rank) {
        CHECK(varied.bytes_of_rank(rank, 0) >= 85'000);
        CHECK(varied.bytes_of_rank(rank, 0) <= 115'000);
    }
    CHECK(varied.bytes_of_rank(0, 0) != varied.bytes_of_rank(1, 0));
    const Content palm(setting_of({{"data", "palm"}, {"size", "8M"}}), 3);
    CHECK(palm.variables().size() == 280);
    CHECK(palm.bytes_of_all(0) > 24u * 1024 * 1024 * 99 / 100);
}

TEST_CASE("placement: directories of a list are filled evenly, also by files of unequal sizes") {
    const auto setting =
        setting_of({{"size", "100000"}, {"layout", "rank"}, {"vary", "15%"}, {"dumps", "20"}, {"target", "/a,/b,/c"}});
    const Content content(setting, 17);
    const FilePlacement placement(content, setting, pairs(17), setting.targets, "r");
    CHECK(placement.imbalance() <= 1.01);
    CHECK(placement.path(0, 0) == "/a/r-0-0");
    CHECK(placement.path(1, 0) == "/b/r-0-1");
}
