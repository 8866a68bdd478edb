#include "insight/report/darshan_read.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/child.hpp"
#include "core/sys/machine.hpp"
#include "insight/report/assets.hpp"

namespace forebay::report {

namespace {

// Until the next line: an interpreter that starts from a busy file system, or the decompression of a large log.
constexpr std::chrono::minutes line_max{5};
constexpr const char* how_to_install = "pip install darshan, or install darshan-util (https://darshan.readthedocs.io)";

// darshan-parser says by its exit code alone whether it has read all: the shell makes a line of that, which no name
// in the log can guess. 127 is a shell's code for a program that is not there.
constexpr const char* parse = R"(command -v darshan-parser >/dev/null || { echo "$2 127"; exit; }
darshan-parser "$1" 2>&1; echo "
$2 $?")";

Result<sys::ChildProgram> start(std::string program, std::vector<std::string> arguments,
                                const DarshanReader& reader = {}) {
    return sys::ChildProgram::start({.program = std::move(program),
                                     .arguments = std::move(arguments),
                                     .environment = reader.environment,
                                     .environment_removed = {"LD_PRELOAD"},
                                     .log_path = {}});  // errors are lines too
}

Result<std::string> next_line(sys::ChildProgram& child) {
    FB_TRY_ASSIGN(line, child.read_line(line_max));
    if (line) return std::move(*line);
    return Error{ErrorKind::retry,
                 fmt::format("the reader of the log has said nothing for {} minutes", line_max.count())};
}

Error about(const std::string& path, const Error& error) {
    auto told = error;
    told.what = fmt::format("{}: {}", path, error.what);
    return told;
}

// Nothing where there is no darshan-parser.
Result<std::optional<DarshanLog>> by_parser(const std::string& path) {
    const auto mark = fmt::format("end {:016x}", sys::random_u64());
    FB_TRY_ASSIGN(child, start("sh", {"-c", parse, "sh", path, mark}));
    DarshanLines lines;
    while (true) {
        FB_TRY_ASSIGN(line, next_line(child));
        if (!line.starts_with(mark)) {
            FB_TRY(lines.add_parsed(line));
            continue;
        }
        const auto code = line.substr(mark.size());
        if (code == " 127") return std::optional<DarshanLog>();
        if (code != " 0" || lines.has_failed())
            return Error{ErrorKind::corrupt, lines.complaint().empty()
                                                 ? fmt::format("darshan-parser ended with exit code{}", code)
                                                 : fmt::format("darshan-parser says '{}'", lines.complaint())};
        auto log = lines.log();
        log.reader = "darshan-parser";
        return std::optional(std::move(log));
    }
}

Result<DarshanLog> by_python(const std::string& path, const DarshanReader& reader) {
    FB_TRY_ASSIGN(child, start(reader.python, {"-c", std::string(asset("darshan_lines.py")), path}, reader));
    DarshanLines lines;
    while (!lines.has_ended()) {
        const auto line = next_line(child);
        if (!line) {
            const auto& complaint = lines.complaint();
            // What makes a library of others crash is a log that is damaged.
            const bool is_crash = lines.has_begun() && line.error().kind == ErrorKind::broken;
            return Error{is_crash ? ErrorKind::corrupt : line.error().kind,
                         line.error().what + (complaint.empty() ? "" : fmt::format("; it said '{}'", complaint))};
        }
        FB_TRY(lines.add_json(*line));
    }
    if (lines.has_failed())
        return Error{ErrorKind::corrupt, fmt::format("libdarshan-util says '{}'", lines.complaint())};
    return lines.log();
}

}  // namespace

Result<DarshanLog> read_darshan(sys::Store& store, const std::string& given, const DarshanReader& reader) {
    FB_TRY(store.open(given, sys::Access::read));
    const auto path = given.starts_with('-') ? "./" + given : given;  // no option of the reader
    auto parsed = by_parser(path);
    if (!parsed) return about(path, parsed.error());
    if (*parsed) return std::move(**parsed);
    auto log = by_python(path, reader);
    if (log) return std::move(*log);
    if (log.error().kind != ErrorKind::missing) return about(path, log.error());
    return Error{ErrorKind::unsupported,
                 fmt::format("{} cannot be read: darshan-parser is not in PATH, and {} has no PyDarshan ({})", path,
                             reader.python, log.error().what),
                 "", how_to_install};
}

}  // namespace forebay::report
