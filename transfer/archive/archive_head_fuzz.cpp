// Any bytes go to decode_head(), from the beginning and after each decoded head: no crash, no endless loop, and
// accepted stretches lie within the stored bytes, in order. A second round corrects the checksums of blocks. An
// accepted ACL text gives the same text again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/base/bytes.hpp"
#include "transfer/archive/acl_text.hpp"
#include "transfer/archive/head.hpp"
#include "transfer/archive/ustar.hpp"
#include "transfer/copy/attributes.hpp"

using namespace forebay;
using namespace forebay::archive;

namespace {

void check_member(const Member& member) {
    std::uint64_t end = 0, stored = 0;
    for (const auto& stretch : member.stored) {
        if (stretch.begin < end || stretch.end <= stretch.begin || stretch.stored != stored) std::abort();
        end = stretch.end;
        stored += stretch.end - stretch.begin;
    }
    if (member.status.kind == sys::EntryKind::file &&
        (end > member.status.bytes || member.map_bytes + stored > member.stored_bytes))
        std::abort();
    for (const auto& [name, value] : member.attributes)
        if (const auto text = acl_text_of(value); name == tree::access_acl && !text.empty())
            if (acl_text_of(acl_value_of(text).value()) != text) std::abort();
    if (const auto path = clean_path(member.path))
        if (path->starts_with('/') || path->ends_with('/') || ("/" + *path + "/").find("/../") != std::string::npos)
            std::abort();
}

void read_all(std::span<const std::byte> bytes) {
    HeadState state;
    while (true) {
        const auto decoded = decode_head(bytes, state);
        if (!decoded || decoded->is == DecodedHead::Is::end) return;
        if (decoded->is == DecodedHead::Is::cut) {
            if (decoded->bytes <= bytes.size()) std::abort();
            return;
        }
        if (decoded->bytes == 0 || decoded->bytes > bytes.size()) std::abort();
        if (decoded->is == DecodedHead::Is::member) check_member(decoded->member);
        if (decoded->stored > bytes.size() - decoded->bytes) return;
        bytes = bytes.subspan(decoded->bytes + decoded->stored);
    }
}

void make_checks_right(std::span<std::byte> bytes) {
    for (; bytes.size() >= block_bytes; bytes = bytes.subspan(block_bytes)) {
        UstarBlock block;
        std::memcpy(&block, bytes.data(), sizeof block);
        if (!std::string_view(block.magic, sizeof block.magic).starts_with("ustar")) continue;
        auto sum = ustar_check(block);
        for (std::size_t at = 6; at > 0; --at, sum >>= 3) block.check[at - 1] = static_cast<char>('0' + (sum & 7));
        block.check[6] = '\0';
        block.check[7] = ' ';
        std::memcpy(bytes.data(), &block, sizeof block);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto given = std::as_bytes(std::span(data, size));
    std::vector<std::byte> bytes(given.begin(), given.end());
    read_all(bytes);
    make_checks_right(bytes);
    read_all(bytes);
    return 0;
}
