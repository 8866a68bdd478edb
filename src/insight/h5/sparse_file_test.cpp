// Goal: bytes written by HDF5 are kept exactly, in any order, and unwritten space takes no memory.

#include <doctest/doctest.h>

#include <random>

#include "insight/h5/sparse_file.hpp"

using namespace forebay;
using h5::Stretches;

TEST_CASE("stretches: any writes, read back, and neighbours are one") {
    std::mt19937 dice(11);
    for (int round = 0; round < 200; ++round) {
        Stretches stretches;
        std::vector<std::byte> expected(300);
        std::vector<bool> written(300);
        for (int i = 0; i < 12; ++i) {
            const auto at = dice() % 250, size = dice() % 50;
            std::vector<std::byte> bytes(size);
            for (auto& byte : bytes) byte = static_cast<std::byte>(dice());
            stretches.write(at, bytes);
            std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(at));
            std::fill_n(written.begin() + static_cast<std::ptrdiff_t>(at), size, true);
        }
        std::vector<std::byte> content(300, std::byte{1});
        stretches.read(0, content);
        REQUIRE(content == expected);
        std::vector<bool> kept(300);
        std::uint64_t end = 0;
        for (const auto& [offset, bytes] : stretches.all()) {
            REQUIRE((offset > end || end == 0));  // otherwise it would join the stretch before
            end = offset + bytes.size();
            for (auto at = offset; at < end; ++at) kept[at] = true;
        }
        REQUIRE(kept == written);
    }
}

TEST_CASE("HDF5 lays out a file of terabytes in kilobytes of memory") {
    h5::SparseFile sparse;
    {
        const auto access = sparse.access(1u << 20, 16384).value();
        auto file = h5::Hdf5File::create(access, "huge").value();
        const auto creation = h5::dataset_creation().value();
        REQUIRE(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY) >= 0);
        REQUIRE(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER) >= 0);
        for (const auto* name : {"a", "b", "deep/c"}) {
            const auto type = h5::stored_type(f64).value();
            const auto space = h5::space_of({1ull << 38}).value();
            const auto dataset = file.dataset(name, type, space, creation).value();
            CHECK(H5Dget_offset(dataset.get()) % (1u << 20) == 0);
        }
        REQUIRE(file.close());
    }
    CHECK(sparse.size_bytes() >= 6ull << 40);
    std::uint64_t kept = 0;
    const auto written = sparse.take_written();
    for (const auto& [offset, bytes] : written.all()) kept += bytes.size();
    CHECK(kept < 32768);
    CHECK(written.all().size() <= 3);  // metadata lie together
    CHECK(written.all().begin()->first == 0);
}
