#include "bindings/compat/made/file_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/store.hpp"
#include "core/sys/wait_until.hpp"
#include "path/node/holder_wait.hpp"
#include "path/node/run_lock.hpp"

namespace forebay::made {

namespace {

constexpr sys::Pauses look_pauses{std::chrono::milliseconds(20)};

}  // namespace

bool FileRun::has_writer() const { return node::run_lock_is_held(writer_lock()); }
bool FileRun::keeps_writer() const {
    return !sys::wait_until(sys::Clock::now() + node::living_holder_max, look_pauses, [&] { return !has_writer(); });
}
bool FileRun::has_maker() const { return node::run_lock_is_held(finish_lock()); }

// If storage does not answer, that is an error, never an absent file: an append would replace an existing file.
Result<bool> FileRun::exists() const { return sys::posix_store().exists(path_); }

// Does not rename the old mark: a kept run may lie in a directory that a reader must not write to.
Result<bool> FileRun::is_made() const {
    FB_TRY_ASSIGN(has_file, sys::posix_store().exists(file_));
    if (!has_file) return false;
    FB_TRY_ASSIGN(is_marked, sys::posix_store().exists(made_path()));
    return is_marked ? Result<bool>(true) : sys::posix_store().exists(old_name("made"));
}

Result<bool> FileRun::is_unfinished() const {
    FB_TRY_ASSIGN(is_there, exists());
    FB_TRY_ASSIGN(has_file, is_made());
    return is_there && !has_file;
}

Error FileRun::in_use() const {
    return {ErrorKind::refused,
            fmt::format("{} is being written by another program{}", file_, node::run_lock_doubt(writer_lock())), "",
            "wait for its end, or write to another name"};
}

// The writer's lock goes last: as long as it exists, the next process continues after a kill.
Result<> FileRun::rename_old_marks() const {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(is_old, store.exists(old_name("writer")));
    if (!is_old) return {};
    for (const auto& [lock, deed] : {std::pair{old_name("writer"), "written"}, {old_name("maker"), "made"}})
        if (node::run_lock_is_held(lock))
            return Error{ErrorKind::retry,
                         fmt::format("{} is being {} by a program with an older forebay{}", file_, deed,
                                     node::run_lock_doubt(lock)),
                         path_, "wait for its end"};
    for (const auto& [from, to] : {std::pair{old_name("made"), made_path()},
                                   {old_name("failed"), failed_path()},
                                   {old_name("log"), finish_log()}}) {
        const auto renamed = store.rename(from, to);
        if (!renamed && renamed.error().kind != ErrorKind::missing) return renamed;
    }
    for (const auto* lock : {"maker", "writer"}) FB_TRY(store.remove(old_name(lock)));
    return {};
}

}  // namespace forebay::made
