// What the verbs of trees say of single entries: lines for people, JSON, and a file with a line of JSON for each.

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

/// What a file of lines is, and how it is known again: by what its first line begins with, and has.
struct LinesKind {
    const char* option;
    std::string_view begin, key;
};
inline constexpr LinesKind report_lines{"--report", "{\"kind\":", "\"why\":"};
inline constexpr LinesKind list_lines{"--list", "{\"path\":", "\"allocated_bytes\":"};
inline constexpr LinesKind manifest_lines{"--manifest", "{\"path\":", "\"part\":"};
inline constexpr LinesKind sum_lines{"--checksums", tree::checksums_title, ""};

/// What the name of such a file begins with until it is whole.
inline constexpr std::string_view until_whole = ".fb-";

/// A file of lines, made anew; written in large pieces. A plain file gets its name when it is whole, by close(): until
/// then what is there from before stays, also where the command is killed. After an error nothing more is written, all
/// calls give that error, which says where the lines are, and these stay. One thread at a time.
class LinesFile {
public:
    /// `refused` where a file is there that is neither empty nor of this kind, or where another process writes it.
    static Result<std::unique_ptr<LinesFile>> make(const std::string& path, const LinesKind& kind);
    LinesFile(const LinesFile&) = delete;
    LinesFile& operator=(const LinesFile&) = delete;
    ~LinesFile();
    Result<> add(const Json& line) { return add_text(line.line()); }
    /// Without the line end.
    Result<> add_text(std::string_view line);
    /// What was added is in the file.
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
    std::string own_path_, path_;  // until it has its name, and from then on
    std::string buffer_;
    std::uint64_t bytes_ = 0;
    Result<> written_;    // or why not
    bool stays_ = false;  // without its name
};

/// "path", and where it is no UTF-8 "path_hex" with its bytes.
void set_path(Json& object, const std::string& path);
Json json_of(const tree::LogEntry& log_entry);
/// "file", "folder", "link", ...
const char* word_of(sys::EntryKind kind);
/// An entry as lists have it.
Json json_of(const std::string& path, const sys::EntryStatus& status);
/// What brings back a part that the target could not keep.
Json json_of(const tree::Unkept& unkept);
Json json_of(const tree::Amount& amount);
/// "12 (3.40 MB)"
std::string words_of(const tree::Amount& amount);
/// The key "remarks": how many of each kind there are; and "first", the first of all.
void set_entry_log(Json& object, const tree::EntryLog& entry_log);

/// Lines for people: each remark of the first ones, then how many more there are. Where owners of several entries
/// cannot be kept, one line has all of these, with `of_owners`: what becomes of them. Runs `as_files` are left out.
void say_entry_log(const tree::EntryLog& entry_log, const char* of_owners = "");

/// 0 only where all was represented and equal, and nothing failed. An error, for the exit code 5, where a server was
/// given up and nothing else is left over.
Result<Exit> exit_of(const tree::EntryLog& entry_log);

}  // namespace forebay::cli
