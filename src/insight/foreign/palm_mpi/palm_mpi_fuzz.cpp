// Any bytes as PALM's MPI-IO file: no crash. Accepted files are laid out, or refused for their names. Each block reads
// to its end.
//
// The input is placed into the header's tables, entry by entry, and after the header, so that a short input reaches all
// of them.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "support/palm_files.hpp"

using namespace forebay;
using namespace forebay::foreign;

namespace {

void require(bool promise) {
    if (!promise) std::abort();
}

class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : bytes_(reinterpret_cast<const std::byte*>(data), size) {}
    void fill(std::span<std::byte> to) {
        const auto now = std::min(to.size(), bytes_.size());
        std::copy_n(bytes_.begin(), now, to.begin());
        bytes_ = bytes_.subspan(now);
    }
    std::span<const std::byte> rest() const { return bytes_; }

private:
    std::span<const std::byte> bytes_;
};

std::vector<std::byte> spread(Input input) {
    struct Table {
        std::size_t count_at, entries_max, at, bytes;
    };
    constexpr std::array<Table, 7> tables{{{16, 256, 40, 32},
                                           {16, 256, 8232, 4},
                                           {12, 128, 9256, 128},
                                           {20, 256, 25'640, 32},
                                           {20, 256, 33'832, 8},
                                           {8, 600, 35'880, 32},
                                           {8, 600, 55'080, 8}}};
    std::vector<std::byte> file(palm_mpi_arrays_begin, std::byte{' '});
    input.fill(std::span(file).first(40));
    const bool big_endian = file[0] == std::byte{0};
    for (const auto& table : tables) {
        std::array<std::byte, 4> number;
        std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(table.count_at), 4, number.begin());
        if (big_endian) std::ranges::reverse(number);
        std::uint32_t count = 0;
        std::memcpy(&count, number.data(), sizeof count);
        input.fill(std::span(file).subspan(table.at, std::min<std::size_t>(count, table.entries_max) * table.bytes));
    }
    file.insert(file.end(), input.rest().begin(), input.rest().end());
    return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = spread({data, size});
    test::SpanFile file(bytes);
    for (const bool cut : {false, true}) {
        const auto contents = open_palm_mpi(file, "fuzz", {.wishes = {}, .cut_ghosts = cut});
        if (!contents) {
            require(contents.error().kind == ErrorKind::corrupt || contents.error().kind == ErrorKind::refused);
            return 0;
        }
        const auto layout = lay_out(*contents, "restart");
        require(layout || layout.error().kind == ErrorKind::refused);
        OriginReader reader;
        for (const auto& origin : contents->origins) {
            std::vector<std::byte> block(origin.bytes());
            require(reader.read(file, origin, 0, block).has_value());
        }
    }
    return 0;
}
