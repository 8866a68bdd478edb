#include "bindings/compat/made/writers.hpp"

#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/process_state.hpp"
#include "path/node/staging.hpp"

namespace forebay::made {

namespace {

// The next writer of a name may come while the kernel still ends the killed writer before it.
Result<> await_ending_writer(const Options& options, const node::Say& say) {
    FB_TRY_ASSIGN(left, node::staging_directories_of(options.staging, options.run));
    for (const auto& directory : left) {
        const auto process = node::process_of_session(directory);
        if (sys::state_of_process(process) == sys::ProcessState::ending)
            static_cast<void>(node::await_free(node::application_lock_path(directory), process, say));
    }
    return {};
}

// The agent of a new session would commit files that an earlier writer left staged on this node. The writer's own agent
// has nothing left to drain: its run is gone.
Result<> clear_staged(const Options& options, const node::Say& say) {
    FB_TRY_ASSIGN(left, node::staging_directories_of(options.staging, options.run));
    for (const auto& directory : left)
        FB_TRY(node::remove_leftover(directory, node::Unpacked::stay, options.close_wait, say));
    return {};
}

}  // namespace

Result<> claim(WrittenFile& file, const std::function<Result<>()>& clear) {
    const auto& run = file.making.run;
    auto& options = file.making.settings.options;
    options.run = run.path();
    node::Say say;
    if (options.log) say = [&options](const std::string& line) { options.log(program_prefix + line); };
    const auto node = file.ranks.world->split_shared();
    const auto of_node = [&](const auto& work) {
        return comm::agree(*file.ranks.world, node->rank() == 0 ? work(options, say) : Result<>());
    };
    // On each node its first rank, since staging and processes belong to the node.
    FB_TRY(of_node(await_ending_writer));
    FB_TRY(on_first_rank(file.ranks, clear));
    FB_TRY(of_node(clear_staged));
    return on_first_rank(file.ranks, [&]() -> Result<> {
        auto taken = node::RunLock::take(run.writer_lock());
        if (!taken && taken.error().kind == ErrorKind::retry) return run.in_use();
        if (!taken) return taken.error();
        file.lock = std::move(*taken);
        return {};
    });
}

Result<> finish(WrittenFile& file, const Result<>& closed) {
    const auto& making = file.making;
    return on_first_rank(file.ranks, [&]() -> Result<> {
        if (!file.is_locked_until_made) file.lock.release();
        FB_TRY(closed);
        // The maker has waited since the file was closed. It may have given up on snapshots that are committed by now.
        FB_TRY(making.start_if_needed());
        FB_TRY(making.await());
        file.lock.release();
        // If the maker ends after the writer, it deletes the run itself.
        return making.settings.keep ? Result<>() : making.remove_if_made();
    });
}

}  // namespace forebay::made
