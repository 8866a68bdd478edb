// The names in a stream's directory, and the names of a run's own files. Only this file writes and parses them. A name
// that step_of() and leftover_of() do not know is not ours: Forebay neither lists nor changes it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/format/lineage.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::catalog {

/// Files in a run's directory. They ask the simulation to save and end, or only to save. `continue_mark` says that the
/// job's time limit ended the simulation before it was done.
inline constexpr const char* stop_request = ".stop";
inline constexpr const char* save_request = ".save";
inline constexpr const char* continue_mark = ".continue";
/// A file of `forebay job --chain`: the next job, and how many jobs in a row made no progress.
inline constexpr const char* chain_mark = ".chain";

struct LeftoverName {
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
    Leftover::Kind kind = Leftover::Kind::part;
};

/// ".step-000120.00000000000000f3.old": the name of a snapshot that is replaced or removed.
std::string leftover_name(const LeftoverName& name);

/// "line-1.step-000310": a snapshot abandoned by a later line.
struct AsideName {
    format::Line line;
    std::int64_t step = 0;
};
std::string aside_name(const format::Line& line, std::int64_t step);
std::optional<AsideName> aside_of(std::string_view name);

/// ".line-6.from-300": a line that goes on from a step and has no snapshot.
std::string start_name(const format::LineStart& start);
std::optional<format::LineStart> start_of(std::string_view name);

/// ".line-5.dropped": a line that does not count any more.
std::string dropped_name(const format::Line& line);
std::optional<format::Line> dropped_of(std::string_view name);

/// "line-5.save-17.step-000310.00000000000000f3": a save with analyses of several nodes, see insitu/parts.hpp.
struct AnalysedSave {
    format::Line line;
    std::uint64_t number = 0;  // Lineage::save
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
    friend bool operator==(const AnalysedSave&, const AnalysedSave&) = default;
};
std::string analysed_name(const AnalysedSave& save);
/// Ignores text after the name: a part taken by a node has its number there.
std::optional<AnalysedSave> analysed_of(std::string_view name);
/// The directory of these names for a stream; "" as stream: the directory of all streams.
std::string analysed_path(const std::string& run, const std::string& stream);

/// The inverse of step_name(). Other spellings give nothing.
std::optional<std::int64_t> step_of(std::string_view name);
/// The inverse of leftover_name(). Other spellings give nothing.
std::optional<LeftoverName> leftover_of(std::string_view name);

/// `retry`: `path` is a link to a missing directory.
Error leads_nowhere(const std::string& path);

/// "00000000000000f3": a snapshot id in names and error texts.
std::string id_text(std::uint64_t snapshot_id);

}  // namespace forebay::catalog
