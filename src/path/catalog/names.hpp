// The names of a stream's directories at the target, and of a run's own files, written and read nowhere else. What
// step_of() and leftover_of() do not recognise is not ours: it is neither listed nor touched.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/format/lineage.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::catalog {

/// In a run's directory: what asks its simulation to save and end, or only to save, and what says that the limit of its
/// job ended it before it was done.
inline constexpr const char* stop_request = ".stop";
inline constexpr const char* save_request = ".save";
inline constexpr const char* continue_mark = ".continue";

struct LeftoverName {
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
    Leftover::Kind kind = Leftover::Kind::part;
};

/// ".step-000120.00000000000000f3.old": where a snapshot goes when it is replaced or removed.
std::string leftover_name(const LeftoverName& name);

/// "line-1.step-000310": a snapshot that a later line has abandoned.
struct AsideName {
    format::Line line;
    std::int64_t step = 0;
};
std::string aside_name(const format::Line& line, std::int64_t step);
std::optional<AsideName> aside_of(std::string_view name);

/// ".line-6.from-300": a line that goes on from a step without having a snapshot.
std::string start_name(const format::LineStart& start);
std::optional<format::LineStart> start_of(std::string_view name);

/// ".line-5.dropped": a line that does not count any more.
std::string dropped_name(const format::Line& line);
std::optional<format::Line> dropped_of(std::string_view name);

/// "line-5.save-17.step-000310.00000000000000f3": a save whose analyses several nodes have a part in, see
/// insitu/parts.hpp.
struct AnalysedSave {
    format::Line line;
    std::uint64_t number = 0;  // Lineage::save
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
    friend bool operator==(const AnalysedSave&, const AnalysedSave&) = default;
};
std::string analysed_name(const AnalysedSave& save);
/// What follows the name does not matter: parts that a node has taken have its number there.
std::optional<AnalysedSave> analysed_of(std::string_view name);
/// In a run: the directories of those, by their streams.
std::string analysed_path(const std::string& run, const std::string& stream);

/// The inverse of step_name(), for exactly the names that it gives.
std::optional<std::int64_t> step_of(std::string_view name);
/// The inverse of leftover_name(), likewise.
std::optional<LeftoverName> leftover_of(std::string_view name);

/// Of a link in the place of a directory, whose target does not exist: `retry`.
Error leads_nowhere(const std::string& path);

/// "00000000000000f3": a snapshot id as names and error texts show it.
std::string id_text(std::uint64_t snapshot_id);

}  // namespace forebay::catalog
