// The keeper of one node, a process of `forebay job`: it starts agents for the sessions of the job, outside of the job
// step of the application. When the command of the job has ended, it waits until the agents have committed everything,
// drains what is left, and reports.
//
// It talks with `forebay job` in lines over its standard input and output. Words are separated by tabs.
//
//   to the keeper     end SECONDS                            the command has ended: commit within this time
//   from the keeper   keeper HOST ready                      it takes requests of sessions
//                     keeper HOST hosted DIR                 it has started the agent of a session
//                     keeper HOST signalled                  the batch system has sent a signal to end
//                     keeper HOST staged RUN STREAM@STEP     this node's part was not committed when the end began
//                     keeper HOST left RUN STREAM@STEP DIR TEXT    and it is not committed now
//                     keeper HOST done                       the last line
//
// The end of its input means the same as `end` with the limit of its option. A keeper of PBS has no such input: it
// calls `forebay job` over TCP (job_calls.hpp).

#pragma once

#include <cstdint>
#include <string>

#include "core/terminal/command_line.hpp"

namespace forebay::cli {

struct KeeperPlan {
    std::string id;                // of the socket
    std::string staging;           // "": /dev/shm
    std::string call, token_file;  // call forebay job there; "": use the standard input and output
    std::uint64_t wait_seconds = 0;
    std::uint64_t kill_wait_seconds = 0;  // from SIGTERM to SIGKILL
};

inline constexpr char keeper_separator = '\t';
inline constexpr const char* keeper_word = "keeper";

/// The body of `forebay job --keeper`.
Result<Exit> keep_node(const KeeperPlan& plan);

}  // namespace forebay::cli
