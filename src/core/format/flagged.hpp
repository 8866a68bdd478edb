// A fulfilled condition of an analysis, for the application. It is a file of the run, so it survives the agent and the
// application. Bytes: docs/formats/run.md.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/format/lineage.hpp"
#include "forebay/result.hpp"

namespace forebay::format {

struct Flagged {
    std::string stream;
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
    Line line;
    std::uint32_t actions = 0;  // one bit for each Analysis::Action
    double value = 0;
    std::string text;  // "numbers: */nan > 0 (theta/nan is 3)"
};

/// Returns "00000000000000f3-1a2b3c4d.json": the snapshot's id and the checksum of the text. So two agents with the
/// same condition write one file.
std::string file_name_of(const Flagged& flagged);

/// Encodes the content of the file.
std::string encode_flagged(const Flagged& flagged);
/// `corrupt` for damage, `unsupported` for a newer version. `name` goes into the error.
Result<Flagged> decode_flagged(std::string_view text, const std::string& name);

}  // namespace forebay::format
