#include "transfer/migrate/page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "transfer/copy/entry_log.hpp"

namespace forebay::migrate {

namespace {

constexpr std::size_t piece_bytes = 1u << 20;
constexpr std::array paged{Pass::walk, Pass::copy, Pass::live_sync, Pass::freeze, Pass::final_sync, Pass::compare};

// Runs and adjusted entries are complete at the target, so they are no problem.
bool is_log_entry(const std::string& name) {
    for (const auto kind : {tree::EntryEvent::as_files, tree::EntryEvent::adjusted})
        if (name == tree::name_of(kind)) return false;
    for (std::size_t kind = 0; !tree::is_record(static_cast<tree::EntryEvent>(kind)); ++kind)
        if (name == tree::name_of(static_cast<tree::EntryEvent>(kind))) return true;
    return false;
}

std::string shown_count(const std::string& name, std::uint64_t count) {
    if (name.find("bytes") != name.npos) return fmt::format("{} {}", name, show_bytes(count));
    return fmt::format("{} {}", name, count);
}

std::string counts_text(const Counts& counts) {
    std::string text;
    for (const auto& [name, count] : counts) {
        if (is_log_entry(name) || count == 0) continue;
        text += (text.empty() ? "" : ", ") + shown_count(name, count);
    }
    return text;
}

// Reports written by the verbs of a pass.
std::vector<std::string> reports_of_pass(Pass pass, const PassRecord& record) {
    if (pass == Pass::freeze) return {};
    if (pass != Pass::live_sync) return {fmt::format("{}.jsonl", name_of(pass))};
    std::vector<std::string> names;
    const auto turns = record.counts.find("turns");
    for (std::uint64_t turn = 1; turns != record.counts.end() && turn <= turns->second; ++turn)
        names.push_back(fmt::format("{}-{}.jsonl", name_of(pass), turn));
    return names;
}

class Lines {
public:
    Lines(sys::Store& store, std::string path) : store_(store), path_(std::move(path)) {}
    ~Lines() {
        if (file_) static_cast<void>(store_.remove(temporary_));
    }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    Result<> begin() {
        temporary_ = sys::temporary_beside(path_);
        FB_TRY_ASSIGN(file, store_.open(temporary_, sys::Access::create));
        file_ = std::move(file);
        return {};
    }
    Result<> add(std::string_view text) {
        FB_TRY(file_->write(bytes_, std::as_bytes(std::span(text))));
        bytes_ += text.size();
        return {};
    }
    /// Adds the lines of a file, all JSON objects, each with its pass.
    Result<> add_file(const std::string& path, Pass pass);
    Result<> end() {
        // The rename comes last: a reader that sees the name finds all lines.
        FB_TRY(file_->sync());
        FB_TRY(file_->close());
        FB_TRY(store_.rename(temporary_, path_));
        file_.reset();
        return {};
    }

private:
    sys::Store& store_;
    std::string path_, temporary_;
    std::unique_ptr<sys::File> file_;
    std::uint64_t bytes_ = 0;
};

Result<> Lines::add_file(const std::string& path, Pass pass) {
    FB_TRY_ASSIGN(from, store_.open(path, sys::Access::read));
    FB_TRY_ASSIGN(size, from->size());
    std::string piece, out;
    bool at_begin = true;
    for (std::uint64_t offset = 0; offset < size; offset += piece.size()) {
        piece.resize(std::min<std::uint64_t>(piece_bytes, size - offset));
        // Each line is an object "{...": its first byte is replaced by the pass and a comma.
        FB_TRY(from->read(offset, std::as_writable_bytes(std::span(piece))));
        out.clear();
        for (const char c : piece) {
            if (at_begin) out += fmt::format("{{\"pass\":\"{}\",", name_of(pass));
            else out += c;
            at_begin = c == '\n';
        }
        FB_TRY(add(out));
    }
    return {};
}

std::string line_of(Pass pass, const PassRecord& record) {
    nlohmann::ordered_json line{{"pass", name_of(pass)},
                                {"kind", "pass"},
                                {"began_unix_s", record.began_unix_s},
                                {"ended_unix_s", record.ended_unix_s},
                                {"starts", record.starts}};
    for (const auto& [name, count] : record.counts) line["counts"][name] = count;
    return line.dump() + "\n";
}

}  // namespace

std::string entry_log_text(const Counts& counts) {
    std::vector<std::string> parts;
    for (const auto& [name, count] : counts)
        if (is_log_entry(name) && count > 0) parts.push_back(fmt::format("{} {}", count, name));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string page_of(const MigrationPlan& plan, const ProjectPlan& project, const ProjectState& state) {
    auto page = fmt::format("Migration of project {}\n\n  from  {}\n  to    {}\n  plan  {}\n  made  {}\n\n",
                            project.name, show_text(project.source), show_text(project.target), show_text(plan.path),
                            show_utc(sys::unix_ns()));
    page += fmt::format("{:<12}{:<25}{:<25}{:>10}  starts\n", "pass", "begun", "ended", "took");
    for (const auto pass : paged) {
        const auto& record = state.of(pass);
        page += fmt::format("{:<12}{:<25}{:<25}{:>10}  {}\n", name_of(pass), show_date(record.began_unix_s),
                            show_date(record.ended_unix_s), show_lasted(record.ended_unix_s - record.began_unix_s),
                            record.starts);
    }
    page += "\nWhat was counted\n";
    for (const auto pass : paged)
        if (const auto text = counts_text(state.of(pass).counts); !text.empty())
            page += fmt::format("  {}: {}\n", name_of(pass), text);
    page += "\nEntries that were skipped, changed or differ (report.jsonl has a line for each)\n";
    bool has_some = false;
    for (const auto pass : paged) {
        const auto text = entry_log_text(state.of(pass).counts);
        if (text.empty()) continue;
        has_some = true;
        page += fmt::format("  {}: {}\n", name_of(pass), text);
    }
    if (!has_some) page += "  none\n";
    page += fmt::format("\nThe final sync copied everything, and the comparison {} found no difference.\n",
                        project.compares_bytes ? "of all bytes" : "without bytes");
    if (project.has_patterns()) {
        page += fmt::format("Patterns may have excluded entries: include {}; exclude {}\n",
                            fmt::join(project.include, " "), fmt::join(project.exclude, " "));
    }
    if (project.removes)
        page += fmt::format("The source will be removed {} {} after the release, if it is unchanged.\n",
                            project.wait_days, project.wait_days == 1 ? "day" : "days");
    return page;
}

Result<> write_page(const MigrationPlan& plan, const ProjectPlan& project, const ProjectState& state,
                    const std::string& directory) {
    auto& store = sys::posix_store();
    Lines lines(store, directory + "/report.jsonl");
    FB_TRY(lines.begin());
    for (const auto pass : paged) {
        const auto& record = state.of(pass);
        FB_TRY(lines.add(line_of(pass, record)));
        for (const auto& name : reports_of_pass(pass, record)) FB_TRY(lines.add_file(directory + "/" + name, pass));
    }
    FB_TRY(lines.end());
    return sys::write_text_durable(store, directory + "/report.txt", page_of(plan, project, state));
}

}  // namespace forebay::migrate
