// Any bytes as the files of one or two processes of PALM's fortran_binary: no crash. Accepted files are laid out, or
// refused for their names. Each block reads to its end.
//
// The first byte's lowest bit selects two files; the next two bytes are then the first file's length.

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

std::vector<std::vector<std::byte>> files_of(std::span<const std::byte> input) {
    if (input.size() < 3) return {};
    const bool two = (input[0] & std::byte{1}) != std::byte{0};
    std::uint16_t first = 0;
    std::memcpy(&first, input.data() + 1, sizeof first);
    input = input.subspan(3);
    if (!two) return {{input.begin(), input.end()}};
    const auto cut = input.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(first, input.size()));
    return {{input.begin(), cut}, {cut, input.end()}};
}

bool is_told(const Error& error) {
    return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::refused || error.kind == ErrorKind::unsupported;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto files = files_of({reinterpret_cast<const std::byte*>(data), size});
    if (files.empty()) return 0;
    std::vector<PalmProcess> processes;
    for (const auto& bytes : files) {
        test::SpanFile file(bytes);
        auto process = decode_palm_process(file, "fuzz");
        if (!process) return require(is_told(process.error())), 0;
        processes.push_back(std::move(*process));
    }
    for (const bool cut : {false, true}) {
        const auto contents =
            combine_palm_processes(processes, {"0", "1"}, {.wishes = {}, .cut_ghosts = cut}, test::sample_of(files));
        if (!contents) return require(is_told(contents.error())), 0;
        const auto layout = lay_out(*contents, "restart");
        require(layout || layout.error().kind == ErrorKind::refused);
        OriginReader reader;
        for (const auto& origin : contents->origins) {
            test::SpanFile file(files[origin.file]);
            std::vector<std::byte> block(origin.bytes());
            require(reader.read(file, origin, 0, block).has_value());
        }
    }
    return 0;
}
