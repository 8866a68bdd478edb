#include "transfer/tables/spill_file.hpp"

#include <cstdlib>
#include <string>

#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

// Reports every failure as `full`: no table can grow without room.
Error advised(const Error& error) {
    return {ErrorKind::full,
            "a table of this tree is too large for memory, and cannot be written to a file: " + error.what, "",
            "set TMPDIR to a directory with room, and run the same command again"};
}

Result<sys::PlainFile> open_spill() {
    const char* wish = std::getenv("TMPDIR");
    if (wish != nullptr && *wish != '\0') return sys::PlainFile::open_unnamed(wish);
    auto opened = sys::PlainFile::open_unnamed("/var/tmp");
    return opened ? std::move(opened) : sys::PlainFile::open_unnamed("/tmp");
}

}  // namespace

Result<> SpillFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (!file_) {
        auto opened = open_spill();
        if (!opened) return advised(opened.error());
        file_.emplace(std::move(*opened));
    }
    const auto written = file_->write(offset, bytes);
    return written ? written : Result<>(advised(written.error()));
}

Result<> SpillFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
    if (!file_) return Error{ErrorKind::broken, "nothing was written there"};
    return file_->read(offset, bytes);
}

}  // namespace forebay::tree
