// Reports single entries: lines for people, JSON, and a file with a line of JSON for each entry.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/sys/plain_file.hpp"
#include "core/terminal/command_line.hpp"
#include "core/terminal/json.hpp"
#include "transfer/compare/checksums.hpp"
#include "transfer/copy/copy.hpp"
#include "transfer/copy/entry_log.hpp"

namespace forebay::cli {

/// A kind of file of lines. Its first line is recognized by its begin, and by a key in it.
struct LinesKind {
    const char* option;
    std::string_view begin, key;
};
inline constexpr LinesKind report_lines{"--report", "{\"kind\":", "\"why\":"};
inline constexpr LinesKind list_lines{"--list", "{\"path\":", "\"allocated_bytes\":"};
inline constexpr LinesKind manifest_lines{"--manifest", "{\"path\":", "\"part\":"};
inline constexpr LinesKind sum_lines{"--checksums", tree::checksums_title, ""};

/// Prefix of the name of such a file until it is complete.
inline constexpr std::string_view until_whole = ".fb-";

/// A new file of lines, written in large pieces. close() gives a plain file its name. Until then an older file stays,
/// also after a kill. After an error nothing more is written, all calls return that error with the place of the lines,
/// and these stay. Threads: one at a time.
class LinesFile {
public:
    /// Returns `refused` if a file exists that is neither empty nor of this kind, or if another process writes it.
    static Result<std::unique_ptr<LinesFile>> make(const std::string& path, const LinesKind& kind);
    LinesFile(const LinesFile&) = delete;
    LinesFile& operator=(const LinesFile&) = delete;
    ~LinesFile();
    Result<> add(const Json& line) { return add_text(line.line()); }
    /// Without a line end.
    Result<> add_text(std::string_view line);
    /// Writes all added lines to the file.
    Result<> flush();
    Result<> close();
    bool has_lines() const { return bytes_ > 0 || !buffer_.empty(); }

private:
    LinesFile(sys::PlainFile file, const char* option, std::string own_path, std::string path)
        : file_(std::move(file)), option_(option), own_path_(std::move(own_path)), path_(std::move(path)) {}
    Result<> write_buffer();
    Result<> finish();
    Result<> unfinished(const Error& error);

    sys::PlainFile file_;
    const char* option_;
    std::string own_path_, path_;  // before and after the file has its name
    std::string buffer_;
    std::uint64_t bytes_ = 0;
    Result<> written_;    // or the error
    bool stays_ = false;  // keep the temporary file
};

/// Sets "path", and "path_hex" with its bytes if it is not UTF-8.
void set_path(Json& object, const std::string& path);
Json json_of(const tree::LogEntry& log_entry);
/// "file", "folder", "link", ...
const char* word_of(sys::EntryKind kind);
/// An entry of a list.
Json json_of(const std::string& path, const sys::EntryStatus& status);
/// All values needed to restore a part that the target could not store.
Json json_of(const tree::Unkept& unkept);
Json json_of(const tree::Amount& amount);
/// "12 (3.40 MB)"
std::string words_of(const tree::Amount& amount);
/// Sets "remarks", the count of each kind, and "first", the first entries.
void set_entry_log(Json& object, const tree::EntryLog& entry_log);

/// Prints the first log entries, then the number of the rest. If owners of several entries cannot be set, one line
/// stands for all of them, with `of_owners`: what happened to them. Runs (`as_files`) are left out.
void say_entry_log(const tree::EntryLog& entry_log, const char* of_owners = "");

/// 0 only if nothing failed or differed. An error, for exit code 5, if a server was given up and that is the only
/// problem.
Result<Exit> exit_of(const tree::EntryLog& entry_log);

}  // namespace forebay::cli
