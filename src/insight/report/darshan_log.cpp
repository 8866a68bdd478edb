#include "insight/report/darshan_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/try.hpp"
#include "core/format/json_read.hpp"

namespace forebay::report {

namespace {

constexpr std::size_t complaint_bytes_max = 300;
constexpr double bytes_max =
    1e18;  // an exabyte a file: more is damage, and sums of them stay whole numbers of a double

template <class T>
std::optional<T> number_in(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

// -1 stands for what Darshan has not counted.
double amount(double value, double max) { return std::isfinite(value) ? std::clamp(value, 0.0, max) : 0.0; }
double seconds_of(double value) { return amount(value, 1e9); }

// The columns of a line of darshan-parser: module, rank, file, counter, value, name, mount, kind of file system. A name
// may hold tabs; the last two columns are then those behind it. A name with a line feed takes them away: no mount.
struct Columns {
    std::string_view module, rank, file, counter, value, mount;
    bool is_stream = false;  // "<STDOUT>", which STDIO counts as a file
};

std::optional<Columns> columns_of(std::string_view line) {
    std::array<std::string_view, 5> first;
    for (auto& column : first) {
        const auto tab = line.find('\t');
        if (tab == line.npos) return {};
        column = line.substr(0, tab);
        line.remove_prefix(tab + 1);
    }
    const auto kind = line.rfind('\t');
    const auto mount = kind == line.npos ? line.npos : line.rfind('\t', kind - (kind > 0 ? 1 : 0));
    Columns columns{first[0], first[1], first[2], first[3], first[4], {}, line.starts_with("<STD")};
    if (mount != line.npos && mount < kind) columns.mount = line.substr(mount + 1, kind - mount - 1);
    return columns;
}

Error not_as_expected(std::string_view line) {
    return {ErrorKind::corrupt,
            fmt::format("the reader of the log said '{}'", line.substr(0, std::min(line.size(), complaint_bytes_max)))};
}

}  // namespace

// Python warns of this and that; libdarshan-util begins what matters with "Error".
void DarshanLines::complain(std::string_view line) {
    if (has_failed_) return;
    has_failed_ = line.starts_with("Error");
    complaint_ = std::string(line.substr(0, std::min(line.size(), complaint_bytes_max)));
}

Result<> DarshanLines::check_room() const {
    if (accesses_.size() <= darshan_files_max && layouts_.size() <= darshan_files_max &&
        stripes_ <= darshan_stripes_max)
        return {};
    return Error{ErrorKind::unsupported,
                 fmt::format("the log has more than {} files or {} stripes", darshan_files_max, darshan_stripes_max)};
}

// Of several records of a file the first one counts; stripes come in the order of the file.
Result<> DarshanLines::add_targets(std::uint64_t file, std::string_view mount, std::size_t from,
                                   const std::vector<std::int64_t>& targets) {
    auto& layout = layouts_[file];
    if (from != layout.targets.size()) return {};
    if (from == 0) layout.mount = mount;
    for (const auto target : targets) {
        if (target < 0 || target > std::numeric_limits<std::uint32_t>::max()) continue;
        layout.targets.push_back(static_cast<std::uint32_t>(target));
    }
    stripes_ += targets.size();
    return check_room();
}

Result<> DarshanLines::add_json(std::string_view line) {
    const auto document = format::json::Document::parse(line);
    if (!document) {
        complain(line);
        return {};
    }
    const auto root = document->root();
    if (const auto error = root.member("error").text()) {
        const bool is_missing = root.member("kind").text() == "missing";
        return Error{is_missing ? ErrorKind::missing : ErrorKind::corrupt, *error};
    }
    if (const auto end = root.member("end").u64()) {
        if (*end != lines_ || has_ended_) return not_as_expected(line);
        has_ended_ = true;
        return {};
    }
    ++lines_;
    if (root.member("forebay").text() == "begin") {
        has_begun_ = true;
        return {};
    }
    if (root.member("forebay").text() == "darshan") {
        head_.reader = root.member("reader").text().value_or("");
        head_.processes = root.member("processes").u64().value_or(0);
        head_.seconds = seconds_of(root.member("seconds").f64().value_or(0));
        head_.is_partial = root.member("partial").flag().value_or(false);
        return {};
    }
    if (const auto text = root.member("file").text()) {
        const auto file = number_in<std::uint64_t>(*text);
        const auto list = root.member("targets");
        const auto count = list.list();
        const auto from = root.member("from").u64(darshan_stripes_max);
        if (!file || !count || !from) return not_as_expected(line);
        std::vector<std::int64_t> targets;
        for (std::size_t i = 0; i < *count; ++i) targets.push_back(list.entry(i).i64().value_or(-1));
        return add_targets(*file, root.member("mount").text().value_or(""), *from, targets);
    }
    auto calls = Calls::posix;
    auto text = root.member("posix").text();
    if (!text) {
        calls = Calls::stdio;
        text = root.member("stdio").text();
    }
    const auto file = text ? number_in<std::uint64_t>(*text) : std::nullopt;
    const auto rank = root.member("rank").i64();
    if (!file || !rank) return not_as_expected(line);
    const auto real = [&](const char* key) { return root.member(key).f64().value_or(0); };
    accesses_[{*file, *rank, calls}] = {.read = amount(real("read"), bytes_max),
                                        .written = amount(real("written"), bytes_max),
                                        .first = seconds_of(real("first")),
                                        .last = seconds_of(real("last")),
                                        .seconds = seconds_of(real("seconds"))};
    return check_room();
}

Result<> DarshanLines::add_parsed(std::string_view line) {
    if (line.starts_with('#')) {
        const auto behind = [&](std::string_view label) -> std::optional<std::string_view> {
            if (!line.starts_with(label)) return {};
            return line.substr(label.size());
        };
        if (const auto count = behind("# nprocs: ")) head_.processes = number_in<std::uint64_t>(*count).value_or(0);
        if (const auto time = behind("# run time: ")) head_.seconds = seconds_of(number_in<double>(*time).value_or(0));
        if (line.find("contains incomplete data") != line.npos) head_.is_partial = true;
        return {};
    }
    const auto columns = columns_of(line);
    if (!columns) {
        if (!line.empty()) complain(line);
        return {};
    }
    const auto file = number_in<std::uint64_t>(columns->file);
    const auto rank = number_in<std::int64_t>(columns->rank);
    if (!file || !rank) return {};
    if (columns->module == "LUSTRE") {
        if (columns->counter.find("OST_ID_") == columns->counter.npos) return {};
        const auto target = number_in<std::int64_t>(columns->value);
        const auto& layout = layouts_[*file];
        return add_targets(*file, columns->mount, layout.targets.size(), {target.value_or(-1)});
    }
    const bool is_stdio = columns->module == "STDIO";
    if ((!is_stdio && columns->module != "POSIX") || columns->is_stream) return {};
    const auto value = number_in<double>(columns->value).value_or(0);
    auto& access = accesses_[{*file, *rank, is_stdio ? Calls::stdio : Calls::posix}];
    // Behind the name of the module both have the same.
    const auto counter = columns->counter.substr(std::min(columns->counter.size(), columns->module.size()));
    const auto is = [&](std::string_view name) { return counter == name; };
    if (is("_BYTES_READ")) access.read = amount(value, bytes_max);
    if (is("_BYTES_WRITTEN")) access.written = amount(value, bytes_max);
    if (is("_F_WRITE_START_TIMESTAMP")) access.first = seconds_of(value);
    if (is("_F_WRITE_END_TIMESTAMP")) access.last = seconds_of(value);
    if (is("_F_READ_TIME") || is("_F_WRITE_TIME") || is("_F_META_TIME")) access.seconds += seconds_of(value);
    if (is("_F_SLOWEST_RANK_TIME")) access.slowest = seconds_of(value);
    return check_room();
}

DarshanLog DarshanLines::log() const {
    DarshanLog log = head_;
    std::map<std::uint64_t, DarshanFile> files;
    for (const auto& [key, access] : accesses_) {
        auto& file = files[std::get<std::uint64_t>(key)];
        file.read += static_cast<std::uint64_t>(access.read);
        // A record of all ranks has the sum of their seconds, and those of the slowest.
        const bool is_of_all = std::get<std::int64_t>(key) < 0 && access.slowest > 0;
        file.seconds = std::max(file.seconds, is_of_all ? access.slowest : access.seconds);
        if (access.written <= 0 || access.last < access.first) continue;
        file.first = file.written == 0 ? access.first : std::min(file.first, access.first);
        file.last = std::max(file.last, access.last);
        file.written += static_cast<std::uint64_t>(access.written);
    }
    for (auto& [number, file] : files) {
        const auto layout = layouts_.find(number);
        const bool is_on_lustre = layout != layouts_.end() && !layout->second.targets.empty();
        if (file.written == 0) {
            if (!is_on_lustre || file.read == 0) continue;
            ++log.only_read;
            log.only_read_bytes += file.read;
            continue;
        }
        if (!is_on_lustre) {
            ++log.elsewhere;
            continue;
        }
        file.mount = layout->second.mount;
        file.targets = layout->second.targets;
        log.files.push_back(std::move(file));
    }
    return log;
}

}  // namespace forebay::report
