// A worker of a node's analyses, from the side of its agent: the process `forebay insitu-worker STAGING_DIRECTORY`, or
// for scripts `python3 -m forebay.insitu_worker STAGING_DIRECTORY`. It gets one snapshot at a time. Between two
// snapshots it waits, and keeps everything that it has loaded.
//
// Protocol: lines over its standard input and output; numbers are decimal:
//   agent:   see SLOT SNAPSHOT STEP   SLOT is an index of the control page, SNAPSHOT the id of the save there; then the
//                                     indices of analyses that are switched off
//   worker:  seen                     it does not read the slot any more; only if the slot still has its lease and this
//                                     save. The lease stays until its last line, for the agent after a killed agent
//            made COUNT               after `seen`: the snapshot is analysed, with this number of results
//            failed TEXT              this snapshot is not analysed, because of TEXT; after `seen`, or instead of it
//            raise ACTIONS VALUE TEXT after `seen`: the snapshot fulfils a condition, see insitu/worker.hpp
//            problem TEXT             at any time between `see` and its end: a text for people
//            calls INDEX              for scripts: a function of this analysis of the stream begins
//            returned                 the function has ended
// The end of its input ends the worker. Its errors go to the log of the agent.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/sys/child.hpp"
#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay::agent {

struct WorkerAnswer {
    enum class Kind { none, seen, made, failed, problem, flagged, calls, returned };
    Kind kind = Kind::none;
    std::uint64_t count = 0;    // of `made` and `calls`
    std::uint32_t actions = 0;  // of `flagged`: bits, node/flagged.hpp
    double value = 0;           // of `flagged`
    std::string text = {};      // of `failed`, `problem` and `flagged`
};

/// Returns nothing if the line is not an answer.
std::optional<WorkerAnswer> decode_answer(std::string_view line);

class AnalysisWorker {
public:
    /// Starts the program that agent_program() finds, with the environment of an agent. `missing` if there is none.
    static Result<AnalysisWorker> start(const std::string& directory, const AgentOptions& options);
    /// Starts a worker of scripts. `python` as in Analysis. It uses the package beside this library, if there is one.
    static Result<AnalysisWorker> start_python(const std::string& directory, const AgentOptions& options,
                                               const std::string& python);

    const std::string& program() const { return program_; }
    std::int64_t process() const { return child_.process(); }
    /// After an error of see() or answer() the worker is unusable.
    Result<> see(std::uint32_t slot, std::uint64_t snapshot_id, std::int64_t step,
                 std::span<const std::size_t> switched_off = {});
    /// Call it between two snapshots. The worker ends by itself with its own cleanup. A script's cleanup may take a
    /// second.
    void leave() { child_.let_end(std::chrono::seconds(1)); }
    /// `none` if no line comes within `at_most`, `broken` if the worker ended, `corrupt` if the line is not an answer.
    Result<WorkerAnswer> answer(std::chrono::milliseconds at_most);

private:
    static Result<AnalysisWorker> start(sys::Spawn spawn, const std::string& directory, const AgentOptions& options);
    AnalysisWorker(std::string program, sys::ChildProgram child)
        : program_(std::move(program)), child_(std::move(child)) {}

    std::string program_;
    sys::ChildProgram child_;
};

}  // namespace forebay::agent
