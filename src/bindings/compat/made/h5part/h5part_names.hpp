// The layout of the run beside an H5Part file: NAME.forebay for NAME. One snapshot is one step of the file, or an
// addition to a step. The H5Part library writes snapshots, and h5part_file.hpp makes the file from them.
//
//   NAME.forebay/STREAM/step-000120/   a snapshot: the table `particles`, and replicated variables:
//       h5part/group        the step's group, "Step#120"; empty: the snapshot has only attributes of the file
//       h5part/order        counts the snapshots of one opening: later snapshots replace earlier data
//       h5part/appends      1: the steps of the existing file stay
//       file/NAME, step/NAME   attributes; a string[n] is a text, every other type a 1-D array
//
// Locks and marks of the run are described in made/file_run.hpp.
//
// Streams are called "steps", "steps-2" ...: one for each set of columns, since the tables of a stream have fixed
// columns. If a step is written twice, it needs one more stream, since a stream has each step once.

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

/// Converts a name of H5Part, which may be any text, into a variable's path: '/', '%', control characters and leading
/// dots become %XX.
std::string stored_name(std::string_view name);
std::string shown_name(std::string_view stored);

}  // namespace forebay::made::h5part
