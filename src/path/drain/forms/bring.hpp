// Brings one sealed node file to its place in the part directory. Each form of files has a file: own.cpp, combined.cpp,
// shared.cpp. catalog/forms has the other differences between the forms.
//
// All forms keep files that arrived from this same save, check every segment before they write it, and make the bytes
// durable before the final name or the arrival page.

#pragma once

#include <span>
#include <string>

#include "core/format/form.hpp"
#include "core/format/node_file.hpp"
#include "core/sys/store.hpp"
#include "path/drain/node_drain.hpp"

namespace forebay::drain {

/// One node file to bring.
struct Bringing {
    const NodeDrain& drain;
    const format::NodeFile& file;  // its staged head
    std::span<const std::byte> image;
    const std::string& path;  // of the file at the target
    const std::string& name;  // of the staged file, in texts
};

Result<> bring(const format::OwnFile& form, const Bringing& what);
Result<> bring(const format::CombinedFile& form, const Bringing& what);
Result<> bring(const format::SharedFile& form, const Bringing& what);

/// Reserves room for ranges that take several writes.
void reserve_room(sys::File& out, std::span<const move::ByteRange> ranges, const move::WriteOptions& options);

/// Writes the node file unchanged from byte 0 of `out` on.
Result<> write_plain(const Bringing& what, sys::File& out);

}  // namespace forebay::drain
