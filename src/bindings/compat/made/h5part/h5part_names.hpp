// How the run beside an H5Part file keeps what that file will hold: NAME.forebay for NAME. One snapshot is one step of
// the file, or what was added to one; the H5Part library writes them, h5part_file.hpp makes the file of them.
//
//   NAME.forebay/STREAM/step-000120/   a snapshot: the table `particles`, and replicated variables:
//       h5part/group        the step's group, "Step#120"; empty: the snapshot holds attributes of the file alone
//       h5part/order        counts the snapshots of one opening: later ones replace what earlier ones wrote
//       h5part/appends      1: the steps of the file that is there stay
//       file/NAME, step/NAME   attributes; a string[n] is a text, all else a 1-D array
//
// Locks and marks of the run are those of every such file (made/file_run.hpp).
//
// Streams are called "steps", "steps-2" ...: one for each set of columns, and a further one where a step is written to
// twice, since a stream has each step once and its tables have fixed columns.

#pragma once

#include <string>
#include <string_view>

namespace forebay::made::h5part {

inline constexpr const char* table = "particles";
inline constexpr const char* group_variable = "h5part/group";
inline constexpr const char* order_variable = "h5part/order";
inline constexpr const char* appends_variable = "h5part/appends";
inline constexpr std::string_view file_prefix = "file/";
inline constexpr std::string_view step_prefix = "step/";
inline constexpr std::string_view column_prefix = "particles/";

/// H5Part's names may be any text, a variable's is a path: '/', '%', control characters and leading dots become %XX.
std::string stored_name(std::string_view name);
std::string shown_name(std::string_view stored);

}  // namespace forebay::made::h5part
