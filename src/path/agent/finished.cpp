#include "path/agent/finished.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/base/try.hpp"
#include "core/sys/store.hpp"

namespace forebay::agent {

namespace {

using Kind = sys::LocalFile::Kind;

// `forebay pack --json` lists all files.
constexpr std::size_t told_max = 3;

bool is_unfinished(const std::string& name) { return name.starts_with('.'); }

class SpoolWalk {
public:
    explicit SpoolWalk(const std::string& directory) : directory_(directory) {}

    Finished all() {
        // Follows a link in the given name, but no link below it.
        enter("", directory_ + "/.");
        while (!waiting_.empty()) {
            const auto path = waiting_.back();
            waiting_.pop_back();
            enter(path + "/", directory_ + "/" + path);
        }
        std::ranges::sort(finished_.files, [](const FinishedFile& a, const FinishedFile& b) {
            return std::tie(a.seen.modified_s, a.seen.modified_ns, a.path) <
                   std::tie(b.seen.modified_s, b.seen.modified_ns, b.path);
        });
        std::ranges::sort(finished_.left_out, {}, &LeftOut::path);
        return std::move(finished_);
    }

private:
    // `path` is empty or ends with a slash.
    void enter(const std::string& path, const std::string& directory) {
        const auto names = sys::names_in(directory);
        if (!names) return leave_out(path.empty() ? "./" : path, names.error());
        for (const auto& name : *names)
            if (!is_unfinished(name)) look(path + name);
    }

    void look(const std::string& path) {
        const auto seen = sys::look_at(directory_ + "/" + path);
        if (!seen) leave_out(path, seen.error());
        else if (seen->kind == Kind::directory) waiting_.push_back(path);
        else if (seen->kind == Kind::file) finished_.files.push_back({path, *seen});
    }

    void leave_out(const std::string& path, const Error& why) {
        // A program may have removed the file since the list.
        if (why.kind != ErrorKind::missing) finished_.left_out.push_back({path, why});
    }

    const std::string& directory_;
    std::vector<std::string> waiting_;
    Finished finished_;
};

// Removes an unfinished file. Its writer may rename it to its final name at this moment: then it is absent.
Result<> remove_one(const std::string& path, const sys::LocalFile& seen) {
    if (seen.kind != Kind::directory) return sys::posix_store().remove(path);
    // The rename comes first: a directory that is removed file by file must not get a final name meanwhile.
    const auto aside = sys::random_name_beside(path);
    const auto renamed = sys::posix_store().rename(path, aside);
    if (!renamed && renamed.error().kind == ErrorKind::missing) return {};
    FB_TRY(renamed);
    return sys::posix_store().remove_tree(aside);
}

}  // namespace

format::PackedFile FinishedFile::packed() const {
    return {.path = path, .bytes = seen.bytes, .mode = seen.mode, .modified_unix_ns = seen.modified_unix_ns};
}

std::string text_of(const std::vector<LeftOut>& left_out) {
    std::string text;
    for (std::size_t i = 0; i < std::min(left_out.size(), told_max); ++i)
        text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", left_out[i].path, left_out[i].why.line());
    if (left_out.size() > told_max) text += fmt::format("; and {} more", left_out.size() - told_max);
    return text;
}

std::uint64_t Finished::bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& file : files) bytes += file.seen.bytes;
    return bytes;
}

Finished finished_in(const std::string& directory) { return SpoolWalk(directory).all(); }

Result<bool> remove_unfinished(const std::string& directory) {
    const auto names = sys::names_in(directory);
    if (!names && names.error().kind == ErrorKind::missing) return true;
    if (!names) return names.error();
    for (const auto& name : *names) {
        const auto path = directory + "/" + name;
        const auto seen = sys::look_at(path);
        if (!seen && seen.error().kind == ErrorKind::missing) continue;
        if (!seen) return seen.error();
        if (is_unfinished(name)) FB_TRY(remove_one(path, *seen));
        else if (seen->kind == Kind::directory) FB_TRY(remove_unfinished(path));
        else if (seen->kind == Kind::other) FB_TRY(sys::remove_seen(path, *seen));
    }
    return sys::remove_empty(directory);
}

}  // namespace forebay::agent
