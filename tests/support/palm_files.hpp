// Restart files of PALM in memory, for tests and fuzz targets of their decoders.

#pragma once

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "insight/foreign/palm_fortran/palm_fortran.hpp"
#include "insight/foreign/palm_mpi/palm_mpi.hpp"
#include "support/span_file.hpp"

namespace forebay::test {

inline foreign::ReadSample sample_of(std::span<const std::vector<std::byte>> files) {
    return [files](std::uint32_t file, const foreign::FortranRecord& record, std::uint64_t bytes_max) {
        SpanFile source(files[file]);
        std::vector<std::byte> bytes(std::min(record.bytes, bytes_max));
        auto done = foreign::read_ranges(source, record.ranges, 0, bytes);
        return done ? Result<std::vector<std::byte>>(std::move(bytes)) : Result<std::vector<std::byte>>(done.error());
    };
}

/// Appends the bytes of the numbers.
template <class T>
void append(std::vector<std::byte>& to, const std::vector<T>& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

/// The file of one process, record by record, little-endian.
class PalmProcessImage {
public:
    std::vector<std::byte> bytes;

    template <class T>
    void record(const std::vector<T>& numbers) {
        const std::vector<std::int32_t> mark{static_cast<std::int32_t>(numbers.size() * sizeof(T))};
        append(bytes, mark);
        append(bytes, numbers);
        append(bytes, mark);
    }
    void text(const std::string& text) { record(std::vector<char>(text.begin(), text.end())); }
    void name(const std::string& name) {
        record(std::vector<std::int32_t>{static_cast<std::int32_t>(name.size())});
        text(name);
    }
    template <class T>
    void item(const std::string& item_name, const std::vector<T>& numbers) {
        name(item_name);
        record(numbers);
    }
};

/// Process `process` of `processes` in a row along x. Each has 2 x 3 points, levels 0 to 2 and an extra level, and no
/// ghost layers.
inline std::vector<std::byte> palm_process(std::int32_t process, std::int32_t processes) {
    PalmProcessImage image;
    if (process == 0) {
        image.item("simulated_time", std::vector{12.5});
        image.item("current_timestep_number", std::vector<std::int32_t>{4});
        image.name("runname");
        image.text("a b c   ");
    }
    image.name("binary_version_local");
    image.text("22.04");
    image.record(std::vector<std::int32_t>{processes, process, 2 * process, 2 * process + 1, 0, 2, 0, 2});
    image.item("u", std::vector(2 * 3 * 4, 0.5 + process));
    image.item("zs", std::vector(2 * 3, 1.5 + process));
    image.item("flags", std::vector<std::int32_t>(2 * 3 * 4, 7));
    image.item("surf", std::vector(static_cast<std::size_t>(5 + process), 2.5));
    image.name("*** end ***");
    return std::move(image.bytes);
}

/// An MPI-IO file of 4 x 3 points, levels 0 to 2 and an extra level. Tests can add to it.
struct PalmMpiImage {
    std::vector<std::pair<std::string, std::int32_t>> integers{
        {"nx", 3}, {"ny", 2}, {"nz", 2}, {"current_timestep_number", 9}};
    std::vector<std::pair<std::string, double>> reals{{"simulated_time", 12.5}};
    std::vector<std::pair<std::string, std::string>> texts{{"runname", "a b c"}};
    std::vector<std::pair<std::string, std::vector<std::byte>>> arrays;

    template <class T>
    void array(const std::string& name, const std::vector<T>& numbers) {
        arrays.emplace_back(name, std::vector<std::byte>());
        append(arrays.back().second, numbers);
    }

    std::vector<std::byte> bytes() const {
        std::vector<std::byte> file(foreign::palm_mpi_arrays_begin, std::byte{' '});
        const auto put = [&](std::uint64_t at, const auto& value) {
            std::memcpy(file.data() + at, &value, sizeof value);
        };
        const auto put_text = [&](std::uint64_t at, const std::string& text) {
            std::memcpy(file.data() + at, text.data(), text.size());
        };
        const auto count = [](const auto& list) { return static_cast<std::int32_t>(list.size()); };
        put(0,
            std::array<std::int32_t, 10>{1, 0, count(arrays), count(texts), count(integers), count(reals), 2, 1, 4, 3});
        for (std::size_t i = 0; i < integers.size(); ++i) {
            put_text(40 + 32 * i, integers[i].first);
            put(8232 + 4 * i, integers[i].second);
        }
        for (std::size_t i = 0; i < texts.size(); ++i) {
            put_text(9256 + 128 * i, texts[i].first);
            put_text(9256 + 128 * i + 32, texts[i].second);
        }
        for (std::size_t i = 0; i < reals.size(); ++i) {
            put_text(25'640 + 32 * i, reals[i].first);
            put(33'832 + 8 * i, reals[i].second);
        }
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            put_text(35'880 + 32 * i, arrays[i].first);
            put(55'080 + 8 * i, static_cast<std::int64_t>(file.size()));
            append(file, arrays[i].second);
        }
        return file;
    }
};

/// A file with the arrays u, zs and profile.
inline std::vector<std::byte> palm_mpi_file() {
    PalmMpiImage image;
    image.array("u", std::vector(4 * 3 * 4, 0.5));
    image.array("zs", std::vector(4 * 3, 1.5));
    image.array("profile", std::vector(5, 2.5));
    return image.bytes();
}

/// Adds surface data: two index planes for `counts` elements in each column (x outside, y inside), and data of `runs`
/// runs. The data of a column are its number of elements, then 1.5.
inline void add_surface(PalmMpiImage& image, const std::string& name, const std::vector<std::int64_t>& counts,
                        int runs) {
    std::vector<std::int64_t> start(12), end(12);
    std::vector<double> data;
    std::int64_t next = 1;
    for (std::size_t column = 0; column < 12; ++column) {
        const auto place = column % 3 * 4 + column / 3;
        start[place] = next;
        end[place] = (next += counts[column]) - 1;
        data.push_back(static_cast<double>(counts[column]));
        data.insert(data.end(), static_cast<std::size_t>(counts[column] - 1), 1.5);
    }
    image.array(name + "_start_index", start);
    image.array(name + "_end_index", end);
    std::vector<double> all;
    for (int run = 0; run < runs; ++run) all.insert(all.end(), data.begin(), data.end());
    image.array(name, all);
}

}  // namespace forebay::test
