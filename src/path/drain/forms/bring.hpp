// How an agent brings one sealed node file to its place in the part directory, for each form of files: own.cpp,
// combined.cpp, shared.cpp. What else differs between the forms is in catalog/forms.
//
// All of them leave what has come from this very save as it is, check every segment before it is written, and have the
// bytes durable before a name or the page of the arrival says so.

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
    const format::NodeFile& file;  // its head as it is staged
    std::span<const std::byte> image;
    const std::string& path;  // of the file at the target
    const std::string& name;  // of the staged file, in texts
};

Result<> bring(const format::OwnFile& form, const Bringing& what);
Result<> bring(const format::CombinedFile& form, const Bringing& what);
Result<> bring(const format::SharedFile& form, const Bringing& what);

/// Asks for the room of what takes several writes.
void reserve_room(sys::File& out, std::span<const move::ByteRange> ranges, const move::WriteOptions& options);

/// Writes the node file unchanged from byte 0 of `out` on.
Result<> write_plain(const Bringing& what, sys::File& out);

}  // namespace forebay::drain
