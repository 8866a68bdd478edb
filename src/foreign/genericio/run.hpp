// The run beside a GenericIO file that the library writes: FILE.forebay holds what was saved until the file is made of
// it.

#pragma once

#include <string>

namespace forebay::foreign::genericio {

inline std::string run_of(const std::string& file) { return file + ".forebay"; }
inline constexpr const char* stream_name = "restart";
/// Held while somebody writes to the run, and while somebody makes the file of it (stage/run_lock.hpp).
inline std::string writer_lock(const std::string& run) { return run + "/.genericio-writer"; }
inline std::string maker_lock(const std::string& run) { return run + "/.genericio-maker"; }
/// There when the file is durable; or why it is not.
inline std::string made_path(const std::string& run) { return run + "/.genericio-made"; }
inline std::string failed_path(const std::string& run) { return run + "/.genericio-failed"; }
inline std::string log_path(const std::string& run) { return run + "/.genericio-log"; }

}  // namespace forebay::foreign::genericio
