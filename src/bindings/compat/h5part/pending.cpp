#include "bindings/compat/h5part/pending.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "bindings/compat/h5part/report.hpp"
#include "core/base/try.hpp"

namespace forebay::h5part {

namespace {

// The most closed files without commit: the session of each holds its slots.
constexpr std::size_t uncommitted_max = 2;

made::Writers<WrittenSteps>& closed_files() {
    static made::Writers<WrittenSteps> files;
    return files;
}

Result<made::Making> making_of(const std::string& file) {
    FB_TRY_ASSIGN(settings, behind::settings("H5PART"));
    made::Making making{.run = made::FileRun(file), .settings = std::move(settings), .command = {"h5part", file}};
    const auto& staging = making.settings.options.staging;
    if (!staging.empty()) making.more = {"--staging", staging};
    return making;
}

void tell(const Result<>& finished) {
    if (!finished) fail("H5PartOpenFile", code_of(finished.error().kind), finished.error());
}

/// The file of an earlier writer of the name is finished if this writer appends, and removed if it begins anew.
Result<> clear(const made::Making& making, bool appends) {
    auto& store = sys::posix_store();
    const auto& file = making.run.file();
    const auto directory = std::filesystem::path(file).parent_path().string();
    FB_TRY_ASSIGN(has_directory, store.exists(directory));
    if (!has_directory) return Error{ErrorKind::broken, fmt::format("the directory {} does not exist.", directory)};
    FB_TRY(making.clear(appends));
    if (!appends) {
        FB_TRY(store.remove(file + ".part"));
        FB_TRY(store.remove(file));
    }
    return store.make_directories(making.run.path());
}

}  // namespace

Result<WrittenSteps> begin_writing(const SessionRanks& ranks, const std::string& file, bool appends,
                                   std::uint64_t align_bytes) {
    // Errors of other files are reported, and do not prevent this file.
    tell(finish_committed(ranks));
    tell(closed_files().finish(
        [&](const WrittenSteps& steps) { return steps.name() == file && steps.ranks.key == ranks.key; }));
    auto making = making_of(file);
    FB_TRY(comm::agree(*ranks.world, making ? Result<>() : Result<>(making.error())));
    WrittenSteps writing{{.ranks = ranks, .making = std::move(*making), .is_locked_until_made = false}};
    FB_TRY(made::claim(writing, [&] { return clear(writing.making, appends); }));
    auto& more = writing.making.more;  // for this writer's steps, not for the steps that clear() finished
    if (align_bytes != 0) more.insert(more.end(), {"--align", fmt::format("{}", align_bytes)});
    if (writing.lock.is_of_host()) warn_of_no_locks("H5PartOpenFile", file);
    FB_TRY_ASSIGN(stays, made::exists_on_first_rank(ranks, file));
    writing.stays = stays;
    FB_TRY_ASSIGN(writer, StepWriter::open(ranks, writing.making.settings.options, stays));
    writing.writer = std::move(writer);
    return writing;
}

Result<> end_writing(WrittenSteps writing) {
    const auto snapshots = writing.writer->close(!writing.stays);
    if (snapshots && *snapshots == 0) {  // nothing was appended
        const auto closed = writing.close_session();
        return made::on_first_rank(writing.ranks, [&]() -> Result<> {
            FB_TRY(closed);
            FB_TRY(sys::remove_tree_at_once(sys::posix_store(), writing.making.run.path()));
            writing.lock.release();
            return {};
        });
    }
    // Also after an error: the saved steps make a file, and the session ends in its turn.
    auto& more = writing.making.more;
    more.insert(more.end(), {"--snapshots", fmt::format("{}", writing.writer->saved())});
    const auto started = made::on_first_rank(writing.ranks, [&] { return writing.making.start(); });
    closed_files().add(std::move(writing));
    FB_TRY(snapshots);
    return started;
}

Result<> await_file(const std::string& file) {
    FB_TRY_ASSIGN(is_unfinished, made::FileRun(file).is_unfinished());
    if (!is_unfinished) return {};
    FB_TRY_ASSIGN(making, making_of(file));
    const auto& run = making.run;
    if (!run.has_maker()) {
        // The writer is still active. A file that it appends to can be read.
        FB_TRY_ASSIGN(is_closed, sys::posix_store().exists(run.expected_path()));
        FB_TRY_ASSIGN(has_file, sys::posix_store().exists(file));
        if (!is_closed && has_file && run.has_writer()) return {};
        if (!is_closed && run.keeps_writer()) return run.in_use();
        FB_TRY(making.start());
    }
    return making.await();
}

Result<> finish_committed(const made::FileRanks& ranks) {
    auto waiting = closed_files().count(ranks);
    return closed_files().finish([&](const WrittenSteps& steps) {
        if (steps.ranks.key != ranks.key) return false;
        const bool all = steps.ranks.world->max(steps.writer->committed() ? 0 : 1) == 0;
        const bool now = all || waiting > uncommitted_max;
        if (now) --waiting;
        return now;
    });
}

Result<> finish_all(made::Which which) { return closed_files().finish_all(which); }

}  // namespace forebay::h5part
