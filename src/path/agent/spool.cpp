#include "path/agent/spool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/format/packed.hpp"
#include "core/sys/machine.hpp"

namespace forebay::agent {

namespace {

// The most files in an error. The log and a listing have the rest.
constexpr std::size_t named_max = 3;

std::string closed_prefix(const std::string& directory) { return node::spool_path(directory) + ".closed-"; }

Result<std::vector<std::string>> spools_of(const std::string& directory) {
    std::vector<std::string> spools;
    FB_TRY_ASSIGN(names, sys::names_in(directory));
    for (const auto& name : names) {
        const auto path = directory + "/" + name;
        if (path == node::spool_path(directory) || path.starts_with(closed_prefix(directory))) spools.push_back(path);
    }
    std::ranges::sort(spools);
    return spools;
}

Result<> close_spool(const std::string& directory) {
    const auto closed = fmt::format("{}{:016x}", closed_prefix(directory), sys::random_u64());
    const auto renamed = sys::posix_store().rename(node::spool_path(directory), closed);
    return !renamed && renamed.error().kind == ErrorKind::missing ? Result<>() : renamed;
}

Result<Finished> left_in(const std::string& directory) {
    FB_TRY_ASSIGN(spools, spools_of(directory));
    Finished left;
    for (const auto& spool : spools) {
        auto finished = finished_in(spool);
        std::ranges::move(finished.files, std::back_inserter(left.files));
        std::ranges::move(finished.left_out, std::back_inserter(left.left_out));
    }
    return left;
}

Error not_packed(const std::string& directory, const Finished& left) {
    std::string names;
    for (std::size_t i = 0; i < std::min(left.files.size(), named_max); ++i)
        names += (i == 0 ? "" : ", ") + left.files[i].path;
    if (left.files.size() > named_max) names += fmt::format(" and {} more", left.files.size() - named_max);
    auto what =
        left.files.empty()
            ? fmt::format("a part of the spool in {} on {} cannot be read", directory, sys::host_name())
            : fmt::format("{} of the spool in {} on {} {} not packed: {}", show_count(left.files.size(), "file"),
                          directory, sys::host_name(), left.files.size() == 1 ? "is" : "are", names);
    if (!left.left_out.empty()) what += fmt::format(" ({})", text_of(left.left_out));
    return {
        ErrorKind::retry, what, "committed snapshots, and the files in the spool",
        fmt::format("look at {}/agent.log. Then forebay drain {}, before the allocation ends", directory, directory)};
}

}  // namespace

std::string spool_stream(const std::string& directory, const std::string& host) {
    return fmt::format("{}{}-{}", format::packed_prefix, host, node::virtual_index_of(directory));
}

Result<> check_spools(const std::string& directory) {
    FB_TRY_ASSIGN(left, left_in(directory));
    return left.empty() ? Result<>() : Result<>(not_packed(directory, left));
}

Result<> remove_spools(const std::string& directory) {
    // Closed first: a program that still writes by its path gets an error, instead of losing its file.
    FB_TRY(close_spool(directory));
    FB_TRY(check_spools(directory));
    FB_TRY_ASSIGN(spools, spools_of(directory));
    for (const auto& spool : spools) {
        FB_TRY_ASSIGN(gone, remove_unfinished(spool));
        // A program with this working directory has just finished another file.
        if (!gone) return not_packed(directory, finished_in(spool));
    }
    return {};
}

SpoolKeeper::SpoolKeeper(sys::Store& store, const std::string& directory, const node::SessionFile& session, Tell tell,
                         const SpoolPace& pace)
    : store_(store),
      directory_(directory),
      run_(session.run),
      run_id_(session.run_id),
      stream_(spool_stream(directory, session.host)),
      pace_(pace),
      tell_(std::move(tell)) {
    auto started = sys::Thread::start([this] { keep(); });
    if (started) thread_ = std::move(*started);
    else tell_({.what = What::packed_later, .place = directory_, .detail = started.error().line()});
}

SpoolKeeper::~SpoolKeeper() {
    if (!thread_.runs()) return;
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void SpoolKeeper::keep() {
    std::unique_lock lock(mutex_);
    std::chrono::milliseconds pause = pace_.look;
    while (!wake_.wait_for(lock, pause, [this] { return ends_; })) {
        lock.unlock();
        const auto packed = attempt([this] { return pack(false); });
        pause = packed ? pace_.look : pace_.error_pause;
        tell_change(packed);
        lock.lock();
    }
}

// A lasting error is reported once, and again after it changed or came back. Errors of the target contain the name of
// the try, so only their kind is compared.
void SpoolKeeper::tell_change(const Result<>& packed) {
    std::string left;
    for (const auto& [path, spool] : spools_)
        if (!spool.left_out.empty()) left += (left.empty() ? "" : "; ") + text_of(spool.left_out);
    const auto now = packed ? left : name_of(packed.error().kind);
    if (now == std::exchange(reported_, now) || now.empty()) return;
    if (packed) tell_({.what = What::left_out, .detail = left});
    else tell_({.what = What::not_packed, .place = directory_, .detail = packed.error().line()});
}

Result<> SpoolKeeper::pack(bool all) {
    FB_TRY_ASSIGN(spools, spools_of(directory_));
    std::erase_if(spools_, [&](const auto& known) { return std::ranges::find(spools, known.first) == spools.end(); });
    for (const auto& path : spools) FB_TRY(pack_spool(path, all));
    return {};
}

Result<> SpoolKeeper::pack_spool(const std::string& path, bool all) {
    auto& spool = spools_.try_emplace(path, Spool{.packer = Packer(store_, path, run_, stream_, true, {}, run_id_)})
                      .first->second;
    const auto there = finished_in(path);
    const auto now = sys::Clock::now();
    if (there.files.empty()) {
        spool.seen = false;
        spool.left_out = there.left_out;
        return {};
    }
    if (!std::exchange(spool.seen, true)) spool.first_seen = now;
    if (!all && there.files.size() < pace_.files && there.bytes() < pace_.bytes &&
        now - spool.first_seen < pace_.wait_max)
        return {};
    spool.packer.try_again();
    // Files that come meanwhile wait for the next round: programs that never rest would keep it busy for ever.
    for (std::uint64_t files = 0; files < there.files.size();) {
        FB_TRY_ASSIGN(packed, spool.packer.pack_batch());
        if (packed.files == 0) break;
        files += packed.files;
        tell_({.what = What::packed, .bytes = packed.bytes, .count = packed.files});
    }
    spool.seen = false;  // after an error it is still due
    spool.left_out = spool.packer.left_out();
    return {};
}

Result<> SpoolKeeper::finish() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wake_.notify_all();
    thread_.join();
    // The thread has ended, so only this call uses the packers now.
    FB_TRY(close_spool(directory_));
    const auto packed = attempt([this] { return pack(true); });
    tell_change(packed);
    FB_TRY(packed);
    FB_TRY_ASSIGN(left, left_in(directory_));
    if (left.empty()) return remove_spools(directory_);
    // A packer that tried to read the files knows the reasons better than this look.
    std::vector<LeftOut> tried;
    for (const auto& [path, spool] : spools_) std::ranges::copy(spool.left_out, std::back_inserter(tried));
    if (!tried.empty()) left.left_out = std::move(tried);
    return not_packed(directory_, left);
}

}  // namespace forebay::agent
