// Checks every block of a GenericIO output against its checksum.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "insight/foreign/genericio/genericio.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign::genericio {

namespace {

class GioVerifier {
public:
    GioVerifier(sys::Store& store, const std::function<void(std::uint64_t, std::uint64_t)>& progress, std::uint64_t all)
        : store_(store), progress_(progress), all_(all), window_(limits::window_bytes) {}

    Result<> part(const Set::Part& part) {
        FB_TRY_ASSIGN(file, store_.open(part.path, sys::Access::read));
        const auto& header = part.header;
        auto end = header.header_bytes;
        for (std::size_t rank = 0; rank < header.ranks.size(); ++rank)
            for (std::size_t v = 0; v < header.variables.size(); ++v) {
                const auto listed = header.block(rank, v);
                const auto read = block(*file, header, rank, v);
                if (!read && read.error().kind != ErrorKind::corrupt) return read;
                if (!read) add_damage(part, rank, v, listed.stored, read.error().line());
                out_.bytes += listed.stored.bytes;
                ++out_.blocks;
                end = std::max(end, listed.stored.end() + crc_bytes);
                if (progress_) progress_(out_.bytes, all_);
            }
        if (end < header.file_bytes) add_surplus(part, end);
        return {};
    }
    GioVerified take() { return std::move(out_); }

private:
    // The checksum covers stored bytes, so unknown filters do not matter.
    Result<> block(sys::File& file, const GioHeader& header, std::size_t rank, std::size_t v) {
        const auto listed = header.block(rank, v);
        Sealed sealed{.stored = listed.stored,
                      .blosc = listed.filter == "BLOSC",
                      .plain_bytes = listed.stored.bytes,
                      .big_endian = header.big_endian};
        if (sealed.blosc) sealed.plain_bytes = header.ranks[rank].elements * header.variables[v].record_bytes;
        FB_TRY(reader_.begin(file, sealed));
        for (std::uint64_t at = 0; at < sealed.plain_bytes; at += window_.size())
            FB_TRY(reader_.next(
                std::span(window_).first(std::min<std::uint64_t>(window_.size(), sealed.plain_bytes - at))));
        return {};
    }

    void add_damage(const Set::Part& part, std::size_t rank, std::size_t v, const Range& stored,
                    const std::string& why) {
        const auto global = part.header.ranks[rank].global_rank;
        const auto& name = part.header.variables[v].name;
        const auto number = rank * part.header.variables.size() + v;
        const auto last = stored.end() + crc_bytes - 1;
        out_.damage.push_back({part.path, name, global, number, stored.offset, last,
                               fmt::format("{}: '{}' of rank {}, block {}, bytes {}-{}: {}.", part.path, name, global,
                                           number, stored.offset, last, why)});
    }

    // GenericIO makes a file exactly as long as its header and blocks, so further bytes are foreign.
    void add_surplus(const Set::Part& part, std::uint64_t end) {
        const auto last = part.header.file_bytes - 1;
        out_.damage.push_back({part.path, "", 0, part.header.ranks.size() * part.header.variables.size(), end, last,
                               fmt::format("{}: bytes {}-{} lie behind the last block and do not belong to any block.",
                                           part.path, end, last)});
    }

    sys::Store& store_;
    const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
    std::uint64_t all_;
    std::vector<std::byte> window_;
    SealedReader reader_;
    GioVerified out_;
};

std::uint64_t stored_bytes(const Set::Part& part) {
    std::uint64_t bytes = 0;
    for (std::size_t rank = 0; rank < part.header.ranks.size(); ++rank)
        for (std::size_t v = 0; v < part.header.variables.size(); ++v) bytes += part.header.block(rank, v).stored.bytes;
    return bytes;
}

}  // namespace

Result<GioVerified> verify(sys::Store& store, const Set& set,
                           const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    std::uint64_t all = 0;
    for (const auto& part : set.parts) all += stored_bytes(part);
    if (set.list) all += stored_bytes(*set.list);
    GioVerifier verifier(store, progress, all);
    if (set.list) FB_TRY(verifier.part(*set.list));
    for (const auto& part : set.parts) FB_TRY(verifier.part(part));
    return verifier.take();
}

}  // namespace forebay::foreign::genericio
