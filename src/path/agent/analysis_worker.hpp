// A worker of a node's analyses as its agent sees it: the process `forebay insitu-worker STAGING_DIRECTORY`, or of
// scripts `python3 -m forebay.insitu_worker STAGING_DIRECTORY`. It is told of one snapshot at a time, and waits for the
// next one between them, with all that it has loaded.
//
// Protocol, a line each, over its standard input and output; numbers are decimal:
//   agent:   see SLOT SNAPSHOT STEP   SLOT is an index of the control page, SNAPSHOT the id of the save that is there;
//                                     behind them the indices of analyses that are switched off
//   worker:  seen                     it reads the slot no more; only if the slot still has its lease, and that save.
//                                     The lease stays until its last word, for the agent that comes after a killed one
//            made COUNT               after `seen`: the snapshot is analysed, with so many results
//            failed TEXT              this snapshot is not analysed, because of TEXT; after `seen`, or instead of it
//            raise ACTIONS VALUE TEXT after `seen`: the snapshot fulfils a condition, see insitu/worker.hpp
//            problem TEXT             at any time between `see` and its end: something that people should read
//            calls INDEX              of scripts: from now on a function of that analysis of the stream runs
//            returned                 and now no more
// The end of its input is the end of its work. Its errors go to the log of the agent.

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

/// Nothing for a line that is no answer.
std::optional<WorkerAnswer> decode_answer(std::string_view line);

class AnalysisWorker {
public:
    /// Of the program that agent_program() finds, with the environment of an agent. `missing` where there is none.
    static Result<AnalysisWorker> start(const std::string& directory, const AgentOptions& options);
    /// Of scripts: `python` as Analysis has it. The package is that beside this library, where there is one.
    static Result<AnalysisWorker> start_python(const std::string& directory, const AgentOptions& options,
                                               const std::string& python);

    const std::string& program() const { return program_; }
    std::int64_t process() const { return child_.process(); }
    /// After an error, of this or of answer(), it is of no use.
    Result<> see(std::uint32_t slot, std::uint64_t snapshot_id, std::int64_t step,
                 std::span<const std::size_t> switched_off = {});
    /// Between two snapshots: it comes to its end by itself, with whatever it does then. A script's may take a second.
    void leave() { child_.let_end(std::chrono::seconds(1)); }
    /// `none` where it says nothing for `at_most`; `broken` where it has ended, `corrupt` for anything but an answer.
    Result<WorkerAnswer> answer(std::chrono::milliseconds at_most);

private:
    static Result<AnalysisWorker> start(sys::Spawn spawn, const std::string& directory, const AgentOptions& options);
    AnalysisWorker(std::string program, sys::ChildProgram child)
        : program_(std::move(program)), child_(std::move(child)) {}

    std::string program_;
    sys::ChildProgram child_;
};

}  // namespace forebay::agent
