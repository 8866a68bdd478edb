// How far an export has come, so that a killed one goes on: a small text beside the file that is being written,
// replaced atomically. docs/formats/export.md.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::move {

struct Journal {
    std::uint64_t identity = 0;  // of what is being written
    std::uint64_t durable = 0;   // all data of the part below this offset of the file
    friend bool operator==(const Journal&, const Journal&) = default;
};

/// The journal of part `index` of `parts`.
std::string journal_path(const std::string& part_path, std::uint32_t index, std::uint32_t parts);

std::string text_of(const Journal& journal);
/// `corrupt` for anything that text_of() did not give.
Result<Journal> journal_from(const std::string& text);

/// One that says nothing durable where there is none.
Result<Journal> load_journal(sys::Store& store, const std::string& path, std::uint64_t identity);
/// Call it when the data are durable.
Result<> store_journal(sys::Store& store, const std::string& path, const Journal& journal);

}  // namespace forebay::move
