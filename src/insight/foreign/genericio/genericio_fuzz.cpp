// Any bytes as a GenericIO file, or as a list with its partitions: no crash. Accepted files are laid out, or refused
// for their names. Each block reads to its end or is found damaged.
//
// Checksums would keep nearly every change from the code after them, so they are made right; for blocks, in one of two
// passes. Each magic number in the input begins a file: the list, then the partitions 0, 1, ...

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/base/bytes.hpp"
#include "core/base/crc64.hpp"
#include "insight/foreign/bytes.hpp"
#include "insight/foreign/genericio/encode.hpp"
#include "insight/foreign/genericio/genericio.hpp"
#include "insight/foreign/genericio/layout.hpp"
#include "support/span_file.hpp"

using namespace forebay;
using namespace forebay::foreign;
namespace gio = forebay::foreign::genericio;

namespace {

// A few kilobytes may decompress to 2 GiB; a fuzzer has no time for that.
constexpr std::uint64_t plain_bytes_max = 16u << 20;

void require(bool promise) {
    if (!promise) std::abort();
}

void put_trailer(std::vector<std::byte>& bytes, std::uint64_t begin, std::uint64_t end) {
    if (end > bytes.size() || bytes.size() - end < gio::crc_bytes || begin > end) return;
    std::ranges::copy(gio::trailer(crc64(std::span(bytes).subspan(begin, end - begin))),
                      bytes.begin() + static_cast<std::ptrdiff_t>(end));
}

void seal(std::vector<std::byte>& bytes, bool blocks_too) {
    if (bytes.size() < 16 || !gio::is_genericio(bytes)) return;
    put_trailer(bytes, 0, load<std::uint64_t>(bytes.data() + gio::at_header_bytes, bytes[6] == std::byte{'B'}));
    test::SpanFile file(bytes);
    const auto header = gio::read_header(file, "fuzz");
    if (!header || !blocks_too) return;
    for (std::size_t rank = 0; rank < header->ranks.size(); ++rank)
        for (std::size_t v = 0; v < header->variables.size(); ++v) {
            const auto place = header->block(rank, v).stored;
            put_trailer(bytes, place.offset, place.end());
        }
}

test::SpanStore files_in(std::span<const std::byte> input, bool blocks_too) {
    test::SpanStore store;
    int number = -1;
    for (std::size_t begin = 0; begin < input.size();) {
        auto end = begin + 1;
        while (end < input.size() && !gio::is_genericio(input.subspan(end))) ++end;
        auto& file = store.files[number < 0 ? "fuzz" : "fuzz#" + std::to_string(number)];
        file.assign(input.begin() + static_cast<std::ptrdiff_t>(begin),
                    input.begin() + static_cast<std::ptrdiff_t>(end));
        seal(file, blocks_too);
        begin = end;
        ++number;
    }
    return store;
}

bool is_too_large(const gio::Set& set) {
    for (const auto& part : set.parts)
        for (const auto& variable : part.header.variables)
            for (const auto& rank : part.header.ranks)
                if (rank.elements > plain_bytes_max / variable.record_bytes) return true;
    return false;
}

bool is_allowed(const Error& error) {
    return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::refused ||
           error.kind == ErrorKind::unsupported || error.kind == ErrorKind::missing;
}

void read_all(test::SpanStore& store, const ForeignContents& contents) {
    OriginReader reader;
    for (const auto& origin : contents.origins) {
        const auto file = store.open(contents.files[origin.file], sys::Access::read).value();
        std::vector<std::byte> block(origin.bytes());
        const auto done = reader.read(*file, origin, 0, block);
        require(done || (origin.sealed && done.error().kind == ErrorKind::corrupt));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (const bool blocks_too : {false, true}) {
        auto store = files_in({reinterpret_cast<const std::byte*>(data), size}, blocks_too);
        const auto set = gio::open_set(store, "fuzz");
        if (!set) {
            require(is_allowed(set.error()));
            continue;
        }
        if (is_too_large(*set)) continue;
        const auto verified = gio::verify(store, *set, {});
        require(verified && verified->damage.size() <= verified->blocks);
        const auto contents = gio::open(store, "fuzz");
        if (!contents) {
            require(is_allowed(contents.error()));
            continue;
        }
        const auto layout = lay_out(*contents, "restart");
        require(layout || layout.error().kind == ErrorKind::refused);
        read_all(store, *contents);
    }
    return 0;
}
