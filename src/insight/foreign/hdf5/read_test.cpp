// Goal: stored data are read once for any chunk size, so a chunk's filters run once.
// Method: an HDF5 filter without effect counts its calls; chunks are larger than all caches.

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <vector>

#include "insight/foreign/hdf5/file.hpp"
#include "insight/foreign/hdf5/limits.hpp"
#include "insight/h5/hdf5.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::foreign;

namespace {

constexpr H5Z_filter_t counting_filter = 300;  // from HDF5's range for tests
std::atomic<int> read_calls = 0;

std::size_t count_call(unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) {
    if ((flags & H5Z_FLAG_REVERSE) != 0) ++read_calls;
    return bytes;
}

void write_file(const std::string& path, const std::vector<hsize_t>& shape, const std::vector<hsize_t>& chunk) {
    const h5::Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const h5::Id creation(H5Pcreate(H5P_DATASET_CREATE));
    const int dims = static_cast<int>(shape.size());
    REQUIRE(H5Pset_chunk(creation.get(), dims, chunk.data()) >= 0);
    REQUIRE(H5Pset_filter(creation.get(), counting_filter, 0, 0, nullptr) >= 0);
    const std::vector<hsize_t> endless(shape.size(), H5S_UNLIMITED);
    const h5::Id space(H5Screate_simple(dims, shape.data(), endless.data()));
    const h5::Id dataset(
        H5Dcreate2(file.get(), "u", H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT));
    std::size_t elements = 1;
    for (const auto size : shape) elements *= size;
    const std::vector<double> values(elements, 1.0);
    REQUIRE(H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
}

}  // namespace

TEST_CASE("filters run once for each chunk") {
    const H5Z_class2_t counting{H5Z_CLASS_T_VERS, counting_filter, 1, 1, "counting", nullptr, nullptr, count_call};
    REQUIRE(H5Zregister(&counting) >= 0);
    const test::TempDirectory directory;
    const auto path = directory.path() + "/chunks.h5";
    struct Case {
        std::vector<hsize_t> shape, chunk;
        int chunks;
    };
    // Chunks of 40 MB with adjacent rows; one chunk larger than the dataset; small chunks.
    for (const auto& [shape, chunk, chunks] : {Case{{2500, 4000}, {2500, 2000}, 2}, Case{{5'000'000}, {5'000'000}, 1},
                                               Case{{100, 5000}, {200, 25'000}, 1}, Case{{900, 900}, {100, 300}, 27}}) {
        write_file(path, shape, chunk);
        read_calls = 0;
        std::uint64_t bytes = 0;
        const auto alive = [&](std::uint64_t more) { bytes += more; };
        const auto foreign_file = look_at_hdf5(path, alive).value();
        const auto verdict = verify_hdf5(path, foreign_file, alive).value();
        CHECK(verdict.problems.empty());
        CHECK(read_calls == chunks);
        CHECK(verdict.bytes == foreign_file.bytes);
        CHECK(bytes == foreign_file.bytes);
    }
    REQUIRE(H5Zunregister(counting_filter) >= 0);
}
