// An own file: written plain or compressed beside its final name, synced, then renamed.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "path/catalog/node_reader.hpp"
#include "path/drain/compress.hpp"
#include "path/drain/forms/bring.hpp"

namespace forebay::drain {

namespace {

Result<bool> is_there(sys::Store& store, const std::string& path, const format::NodeFile& file) {
    FB_TRY_ASSIGN(exists, store.exists(path));
    if (!exists) return false;
    auto reader = catalog::NodeReader::open(store, path);
    if (!reader) return false;
    const auto staged = reader->peek().staged_crc32c;
    return staged == file.record_crc32c && reader->head();  // a damaged file is written again
}

Result<> write_file(const Bringing& what, const std::string& path) {
    const auto access = what.drain.direct ? sys::Access::create_direct : sys::Access::create;
    FB_TRY_ASSIGN(out, what.drain.store->open(path, access));
    FB_TRY(write_plain(what, *out));
    FB_TRY(out->truncate(what.file.file_bytes));
    FB_TRY(out->sync());
    return out->close();
}

std::string summary(const Compressed& compressed, const std::optional<double>& left) {
    std::string efforts;
    for (const auto& [name, bytes] : compressed.efforts)
        efforts += fmt::format("{}{} of {}", efforts.empty() ? "" : ", ", name, show_bytes(bytes));
    const auto stored = static_cast<double>(std::max<std::uint64_t>(compressed.stored_bytes, 1));
    auto text =
        fmt::format("{} stored as {} ({:.2f}x) by {}", show_bytes(compressed.plain_bytes),
                    show_bytes(compressed.stored_bytes), static_cast<double>(compressed.plain_bytes) / stored, efforts);
    if (compressed.encode_seconds > 0)
        text += fmt::format(", {} a second and thread",
                            show_bytes(static_cast<std::uint64_t>(static_cast<double>(compressed.plain_bytes) /
                                                                  compressed.encode_seconds)));
    if (left) text += fmt::format(", with {} to go", show_seconds(std::max(0.0, *left)));
    if (compressed.refused_chunks > 0)
        text += fmt::format("; {} chunks exceeded the bound of the codec and are stored unchanged",
                            compressed.refused_chunks);
    return text;
}

Result<> write_file_compressed(const Bringing& what, const std::string& path) {
    const auto& drain = what.drain;
    FB_TRY_ASSIGN(compressed, write_compressed(drain, *drain.compression, what.file, what.image, path, what.name));
    if (drain.stored_bytes != nullptr) *drain.stored_bytes += compressed.stored_bytes;
    if (drain.log) drain.log(summary(compressed, drain.seconds_left));
    return {};
}

}  // namespace

Result<> bring(const format::OwnFile&, const Bringing& what) {
    const auto& drain = what.drain;
    FB_TRY_ASSIGN(there, is_there(*drain.store, what.path, what.file));
    if (there) return {};
    const auto temporary = what.path + ".tmp";
    // Remove the file of an earlier try instead of writing over it. After a failure of its servers such a file may take
    // writes, but never a truncate or a sync again (measured on GlusterFS, erasure-coded).
    FB_TRY(drain.store->remove(temporary));
    const auto write =
        drain.compression != nullptr && drain.compression->rules.any() ? write_file_compressed : write_file;
    if (auto written = write(what, temporary); !written) {
        // Return the first error. If this removal fails too, recover removes the file later.
        static_cast<void>(drain.store->remove(temporary));
        return written;
    }
    // The rename comes after the sync: a file under its final name is durable.
    return drain.store->rename(temporary, what.path);
}

}  // namespace forebay::drain
