#include "transfer/program/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/store.hpp"
#include "core/terminal/say.hpp"

namespace forebay::cli {

namespace {

using tree::EntryEvent;
namespace fs = std::filesystem;

constexpr std::size_t line_buffer_bytes = 256u << 10;
// A path of 4,096 bytes, each spelled \\u00XX, and its hexadecimal digits.
constexpr std::uint64_t first_line_bytes_max = 64u << 10;
// More lines than a screen belong into --report.
constexpr std::size_t log_lines_max = 20;
constexpr std::array bad_kinds{EntryEvent::vanished,          EntryEvent::changed,        EntryEvent::failed,
                               EntryEvent::not_kept,          EntryEvent::released,       EntryEvent::differs,
                               EntryEvent::missing_in_target, EntryEvent::extra_in_target};
constexpr std::array<const char*, 8> kind_words{"unknown", "file",   "folder",           "link",
                                                "fifo",    "socket", "character_device", "block_device"};

constexpr std::array wished_kinds{EntryEvent::saved_in_manifest, EntryEvent::skipped, EntryEvent::flags_not_copied,
                                  EntryEvent::adjusted};

// A pipe, a device, or a file opened by the shell.
bool is_open_elsewhere(const std::string& path) {
    return path.starts_with("/proc/") || (path.starts_with("/dev/") && !path.starts_with("/dev/shm/"));
}

// After a power cut an unfinished file may have a part of its first line, or zeros.
Result<> check_replaceable(const std::string& path, const LinesKind& kind, bool is_torn_fine) {
    std::error_code none;
    if (is_open_elsewhere(path) || !fs::is_regular_file(path, none)) return {};
    const auto bytes = fs::file_size(path, none);
    if (none || bytes == 0) return {};
    FB_TRY_ASSIGN(file, sys::PlainFile::open(path, sys::PlainFile::Use::read));
    std::string line(std::min<std::uint64_t>(bytes, first_line_bytes_max), '\0');
    FB_TRY(file.read(0, std::as_writable_bytes(std::span(line))));
    const auto end = line.find('\n');
    const bool is_begun = line.starts_with(kind.begin) || kind.begin.starts_with(line);
    if (is_torn_fine && (line.front() == '\0' || (end == line.npos && is_begun))) return {};
    line.resize(std::min(end, line.size()));
    if (line.starts_with(kind.begin) && line.find(kind.key) != line.npos) return {};
    return Error{ErrorKind::refused,
                 fmt::format("{} {} exists, and is not a file that {} wrote: it would be lost", kind.option,
                             show_text(path), kind.option),
                 "nothing was changed", "choose another path, or remove that file if you do not need it"};
}

std::string hex_of(const std::string& bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

// Runs are excluded: their verb prints a line about them.
std::uint64_t all_of(const tree::EntryLog& entry_log) {
    std::uint64_t all = 0;
    for (std::size_t kind = 0; kind < static_cast<std::size_t>(EntryEvent::count); ++kind)
        all += entry_log.count_of(static_cast<EntryEvent>(kind));
    return all - entry_log.count_of(EntryEvent::as_files);
}

// Prints a line for each entry, or one line for many entries with one cause. Returns the number of entries in these
// lines.
std::uint64_t say_first(const std::vector<tree::LogEntry>& first, const std::vector<tree::Cause>& causes) {
    std::vector<bool> was_said(causes.size());
    std::uint64_t entries = 0;
    std::size_t lines_said = 0;
    for (const auto& log_entry : first) {
        if (lines_said == log_lines_max) break;
        const auto why = tree::cause_of(log_entry);
        const auto cause = std::ranges::find_if(causes, [&](const tree::Cause& known) {
            return known.kind == log_entry.kind && !why.empty() && known.why == why;
        });
        const auto at = static_cast<std::size_t>(cause - causes.begin());
        if (cause == causes.end() || cause->count <= cause->paths.size()) {
            say("{}  {}{}{}\n", log_entry.path, tree::name_of(log_entry.kind), log_entry.why.empty() ? "" : ": ",
                log_entry.why);
            ++entries;
        } else if (!was_said[at]) {
            was_said[at] = true;
            std::string paths;
            for (const auto& path : cause->paths) paths += (paths.empty() ? "" : ", ") + path;
            say("{} and {} more  {}: {}\n", paths, cause->count - cause->paths.size(), tree::name_of(cause->kind),
                cause->why);
            entries += cause->count;
        } else {
            continue;
        }
        ++lines_said;
    }
    return entries;
}

}  // namespace

Result<std::unique_ptr<LinesFile>> LinesFile::make(const std::string& path, const LinesKind& kind) {
    FB_TRY(check_replaceable(path, kind, false));
    std::error_code none;
    const auto type = fs::status(path, none).type();
    const bool is_plain = type == fs::file_type::regular || type == fs::file_type::not_found;
    auto real = path, own = path;
    if (is_plain && !is_open_elsewhere(path)) {
        real = fs::weakly_canonical(fs::absolute(path, none), none).string();  // the target of a symbolic link
        own = fmt::format("{}/{}{}", directory_of(real), until_whole, leaf_of(real));
        FB_TRY(check_replaceable(own, kind, true));  // left by a killed run
    }
    auto file =
        own == path ? sys::PlainFile::open(path, sys::PlainFile::Use::stream) : sys::PlainFile::create_alone(own);
    if (!file)
        return Error{ErrorKind::refused,
                     fmt::format("{} {} cannot be made: {}", kind.option, show_text(path), file.error().what),
                     "nothing was changed",
                     file.error().next.empty() ? "choose a path in an existing directory that you may write to"
                                               : file.error().next};
    return std::unique_ptr<LinesFile>(new LinesFile(std::move(*file), kind.option, own, real));
}

LinesFile::~LinesFile() {
    if (own_path_ != path_ && !stays_) static_cast<void>(sys::posix_store().remove(own_path_));
}

Result<> LinesFile::add_text(std::string_view line) {
    FB_TRY(written_);
    buffer_ += line;
    buffer_ += '\n';
    return buffer_.size() < line_buffer_bytes ? Result<>() : flush();
}

Result<> LinesFile::flush() {
    FB_TRY(written_);
    const auto done = write_buffer();
    return done ? done : unfinished(done.error());
}

Result<> LinesFile::close() {
    FB_TRY(flush());
    const auto done = finish();
    return done ? done : unfinished(done.error());
}

Result<> LinesFile::write_buffer() {
    if (bytes_ == 0 && file_.is_regular()) FB_TRY(file_.set_size(0));
    FB_TRY(file_.write(bytes_, std::as_bytes(std::span(buffer_))));
    bytes_ += buffer_.size();
    buffer_.clear();
    return {};
}

Result<> LinesFile::finish() {
    if (own_path_ != path_) FB_TRY(file_.take_permissions(path_));
    if (file_.is_regular()) FB_TRY(file_.sync());
    if (own_path_ == path_) return file_.close();
    if (auto named = sys::posix_store().rename(own_path_, path_); !named)  // before another process may open it
        return with_context(named.error(), named.error().what,
                            fmt::format("all lines are in {}", show_text(own_path_)));
    own_path_ = path_;
    FB_TRY(file_.close());
    return sys::posix_store().sync_directory(directory_of(path_));
}

// The reported entries may be gone, and a repeated command would not report them.
Result<> LinesFile::unfinished(const Error& error) {
    std::error_code none;
    const auto own = show_text(own_path_);
    stays_ = own_path_ != path_ && fs::file_size(own_path_, none) > 0 && !none;
    const auto again = fmt::format("run the same command again with a {} that can be written", option_);
    written_ = with_context(error, fmt::format("{} {} cannot be written: {}", option_, show_text(path_), error.what),
                            stays_ && error.safe.empty() ? fmt::format("its lines until then are in {}", own) : "",
                            stays_ ? fmt::format("keep {} under another name, and {}", own, again) : again);
    return written_;
}

void set_path(Json& object, const std::string& path) {
    object.set("path", path);
    if (!is_utf8(path)) object.set("path_hex", hex_of(path));
}

Json json_of(const tree::LogEntry& log_entry) {
    auto object = Json::object();
    object.set("kind", tree::name_of(log_entry.kind));
    set_path(object, log_entry.path);
    return object.set("why", log_entry.why);
}

const char* word_of(sys::EntryKind kind) { return kind_words[static_cast<std::size_t>(kind)]; }

Json json_of(const std::string& path, const sys::EntryStatus& status) {
    auto object = Json::object();
    set_path(object, path);
    object.set("kind", word_of(status.kind)).set("bytes", status.bytes).set("allocated_bytes", status.allocated_bytes);
    object.set("permissions", status.permissions).set("user", status.user).set("group", status.group);
    object.set("names", status.names).set("inode", status.id.number);
    object.set("modified_seconds", status.modified.seconds).set("modified_nanoseconds", status.modified.nanoseconds);
    return object;
}

Json json_of(const tree::Unkept& unkept) {
    const auto& status = unkept.status;
    auto object = Json::object();
    set_path(object, unkept.path);
    object.set("part", unkept.part).set("value_hex", hex_of(unkept.value));
    object.set("kind", word_of(status.kind)).set("permissions", status.permissions);
    object.set("user", status.user).set("group", status.group);
    object.set("device_major", status.device_number >> 32).set("device_minor", status.device_number & 0xffff'ffffu);
    object.set("modified_seconds", status.modified.seconds).set("modified_nanoseconds", status.modified.nanoseconds);
    return object;
}

Json json_of(const tree::Amount& amount) {
    return Json::object().set("entries", amount.entries.load()).set("bytes", amount.bytes.load());
}

std::string words_of(const tree::Amount& amount) {
    return fmt::format("{} ({})", amount.entries.load(), show_bytes(amount.bytes));
}

void set_entry_log(Json& object, const tree::EntryLog& entry_log) {
    auto counts = Json::object();
    for (std::size_t kind = 0; !is_record(static_cast<EntryEvent>(kind)); ++kind)
        counts.set(tree::name_of(static_cast<EntryEvent>(kind)), entry_log.count_of(static_cast<EntryEvent>(kind)));
    auto first = Json::array();
    for (const auto& log_entry : entry_log.first()) first.push(json_of(log_entry));
    object.set("remarks", counts).set("first", first);
}

void say_entry_log(const tree::EntryLog& entry_log, const char* of_owners) {
    auto first = entry_log.first();
    std::erase_if(first, [](const auto& log_entry) { return log_entry.kind == EntryEvent::as_files; });
    const auto owners = entry_log.owners() > 1 ? entry_log.owners() : 0;
    if (owners > 0)
        std::erase_if(first, [](const auto& log_entry) { return log_entry.why.starts_with(tree::owner_not_kept); });
    // Problems come before requested differences.
    std::stable_partition(first.begin(), first.end(), [](const tree::LogEntry& log_entry) {
        return std::ranges::find(wished_kinds, log_entry.kind) == wished_kinds.end();
    });
    const auto all = all_of(entry_log);
    if (const auto left = all - owners - say_first(first, entry_log.causes()); left > 0)
        say("... and {} more: --report FILE has a line for each.\n", left);
    if (owners > 0)  // several entries
        say("{} entries have owners that your user may not set at the target: {}\n", owners, of_owners);
    std::string counts;
    for (std::size_t number = 0; number < static_cast<std::size_t>(EntryEvent::count); ++number) {
        const auto kind = static_cast<EntryEvent>(number);
        const auto count = entry_log.count_of(kind);
        if (count > 0 && kind != EntryEvent::adjusted)  // already in the counts
            counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, tree::name_of(kind));
    }
    if (all > 1 && !counts.empty()) say("{}\n", counts);
}

Result<Exit> exit_of(const tree::EntryLog& entry_log) {
    std::uint64_t bad = 0;
    for (const auto kind : bad_kinds) bad += entry_log.count_of(kind);
    if (bad == 0) return Exit::good;
    if (entry_log.given_up() < bad) return Exit::found;
    return Error{ErrorKind::retry,
                 fmt::format("{} left over, as the server did not answer",
                             show_count(bad, "entry") + (bad == 1 ? " is" : " are")),
                 "every file with its final name is whole", "repeat the same command when the server is back"};
}

}  // namespace forebay::cli
