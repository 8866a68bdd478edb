// Restart files of PALM in memory, for tests and fuzz targets of their decoders.

#pragma once

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "foreign/palm_fortran/palm_fortran.hpp"
#include "foreign/palm_mpi/palm_mpi.hpp"
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

/// Appends the bytes of numbers.
template <class T>
void append(std::vector<std::byte>& to, const std::vector<T>& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

/// One process' file, record by record, in little-endian order.
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

/// Process `process` of `processes` in a row along x, each 2 x 3 points, levels 0 to 2 and one above, no ghost layers.
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

/// A whole MPI-IO file of 4 x 3 points and levels 0 to 2 and one above: an integer more, a text, a real, and arrays.
inline std::vector<std::byte> palm_mpi_file() {
    std::vector<std::byte> file(foreign::palm_mpi_arrays_begin, std::byte{' '});
    const auto put = [&](std::uint64_t at, const auto& value) { std::memcpy(file.data() + at, &value, sizeof value); };
    const auto put_text = [&](std::uint64_t at, const std::string& text) {
        std::memcpy(file.data() + at, text.data(), text.size());
    };
    const std::array<std::int32_t, 10> fields{1, 0, 3, 1, 4, 1, 2, 1, 4, 3};
    put(0, fields);
    put_text(40, "nx");
    put_text(72, "ny");
    put_text(104, "nz");
    put_text(136, "current_timestep_number");
    put(8232, std::array<std::int32_t, 4>{3, 2, 2, 9});
    put_text(9256, "runname");
    put_text(9256 + 32, "a b c");
    put_text(25'640, "simulated_time");
    put(33'832, 12.5);
    const std::array<const char*, 3> names{"u", "zs", "profile"};
    const std::array<std::size_t, 3> elements{4 * 3 * 4, 4 * 3, 5};
    for (std::size_t i = 0; i < names.size(); ++i) {
        put_text(35'880 + 32 * i, names[i]);
        put(55'080 + 8 * i, static_cast<std::int64_t>(file.size()));
        append(file, std::vector(elements[i], 0.5 + static_cast<double>(i)));
    }
    return file;
}

}  // namespace forebay::test
