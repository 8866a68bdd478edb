#include "insight/insitu/worker.hpp"

#include <fmt/format.h>

#include <istream>
#include <ostream>
#include <sstream>

#include "core/base/try.hpp"
#include "insight/insitu/judge.hpp"
#include "insight/insitu/results.hpp"
#include "insight/insitu/sealed_slot.hpp"
#include "path/catalog/run.hpp"

namespace forebay::insitu {

namespace {

void tell_problems(const Work& work, std::ostream& out) {
    for (const auto& problem : work.problems()) out << "problem " << one_line(problem) << '\n';
    out.flush();
}

}  // namespace

Result<InsituWorker::Seen> InsituWorker::see(std::uint32_t slot, std::uint64_t id, std::ostream& out) {
    FB_TRY_ASSIGN(sealed, SealedSlot::open(staging_, slot, id, node::lease_hold));
    Seen seen;
    seen.analyses = sealed.analyses();
    seen.source = sealed.snapshot();
    seen.schema = sealed.node().head().schema;
    work_ = Work::plan(seen.analyses, seen.schema, seen.source.moment);
    const auto done = work_->see(sealed.node(), [&] { return sealed.has_lease(); });
    // Bytes count only if no save took the lease while they were read.
    if (!done || !sealed.has_lease()) return sealed.with_context_of(done ? Error() : done.error());
    // From now on the agent may free the slot: only the copied head is used below.
    out << "seen\n";
    out.flush();
    const auto& record = sealed.node().head().record;
    seen.part = {analysed_save(record), record.node, record.nodes, sealed.rules_crc32c(), {}};
    return seen;
}

// Call before writing the results: with results present, no worker looks at the snapshot again.
void InsituWorker::act(const SeenSnapshot& source, const AnalysisResults& results, std::ostream& out) {
    auto judgement = judge(results.analysis, results.variables);
    mark_snapshot(target_, session_.run, source, judgement);
    for (const auto& line : lines_of(judgement)) out << line << '\n';
    out.flush();
}

// Pictures come first: if results exist, a later worker skips the snapshot and draws nothing.
Result<> InsituWorker::put(const SeenSnapshot& source, const AnalysisResults& results) {
    Result<> drawn;
    for (const auto& picture : results.pictures) {
        const auto written = write_picture(sys::posix_store(), node::spool_path(staging_.directory()),
                                           picture_file(source, results, picture), picture);
        if (!written && drawn) drawn = written;
    }
    FB_TRY(write_results(target_, session_.run, source, results));
    return drawn;
}

// True if all results exist: made by another node, or by the worker of a killed agent.
Result<bool> InsituWorker::is_made(const Seen& seen) {
    for (const auto& analysis : seen.analyses) {
        if (analysis.kind == Analysis::Kind::script || seen.source.moment.step % analysis.every != 0) continue;
        FB_TRY_ASSIGN(is_made, has_results(target_, session_.run, seen.source, analysis));
        if (!is_made) return false;
    }
    return true;
}

// If results of an analysis cannot be written, the other analyses still are, but the step counts as failed.
Result<std::size_t> InsituWorker::put_all(const Seen& seen, std::ostream& out) {
    const auto all = work_->make();
    tell_problems(*work_, out);
    Result<std::size_t> count = std::size_t{0};
    for (const auto& results : all) {
        FB_TRY_ASSIGN(is_made, has_results(target_, session_.run, seen.source, results.analysis));
        if (is_made) continue;
        act(seen.source, results, out);
        const auto done = put(seen.source, results);
        if (!done && count) count = done.error();
        if (count) ++*count;
    }
    return count;
}

Result<std::size_t> InsituWorker::bring_together(const Seen& seen, std::ostream& out) {
    const auto& source = seen.source;
    auto part = seen.part;
    part.tasks = work_->parts();
    tell_problems(*work_, out);
    work_.reset();
    // Before take_parts(): the last node to write finds all parts.
    FB_TRY(write_part(target_, session_.run, source.stream, part));
    FB_TRY_ASSIGN(parts, take_parts(target_, session_.run, source.stream, part));
    if (!parts) return std::size_t{0};
    work_ = Work::plan(seen.analyses, seen.schema, source.moment);
    for (const auto& node_part : *parts) work_->merge(node_part.tasks);
    FB_TRY_ASSIGN(count, put_all(seen, out));
    // The parts go last: if this worker is killed before, the next worker finds them and completes the results.
    FB_TRY(remove_parts(target_, session_.run, source.stream, seen.part.save));
    return count;
}

Result<std::size_t> InsituWorker::finish(const Seen& seen, std::ostream& out) {
    FB_TRY(catalog::check_identity(target_, session_.run, session_.run_id));
    if (seen.source.nodes == 1) return put_all(seen, out);
    // If the results exist, no node would ever take this node's part.
    FB_TRY_ASSIGN(before, is_made(seen));
    if (before) {
        FB_TRY(remove_parts(target_, session_.run, seen.source.stream, seen.part.save));
        return std::size_t{0};
    }
    return bring_together(seen, out);
}

void InsituWorker::serve(std::istream& in, std::ostream& out) {
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string verb;
        std::uint32_t slot = 0;
        std::uint64_t id = 0;
        words >> verb >> slot >> id;
        if (verb != "see" || !words) {
            out << "failed the worker does not understand \"" << one_line(line) << "\"\n";
            out.flush();
            continue;
        }
        const auto seen = see(slot, id, out);
        const auto count = seen ? finish(*seen, out) : Result<std::size_t>(seen.error());
        work_.reset();
        if (count) out << "made " << *count << '\n';
        else out << "failed " << one_line(count.error().line()) << '\n';
        out.flush();
    }
}

}  // namespace forebay::insitu
