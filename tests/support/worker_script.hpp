// Analysis workers that are shell scripts, for tests of the agent's side.

#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/killable.hpp"
#include "support/processes.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"

namespace forebay::test {

/// A program beside the real program. As a worker it is the script, otherwise it runs `forebay`. The script has
/// $folder, $step and `wait_for NAME`. Each `see` runs `on_see` with its words as $slot, $id and $step. The file
/// `asked` has a line for each command, the file `starts` a line with the process of each start. As an interpreter of
/// Python it is the worker of scripts. $kind is `analyses` or `scripts`.
class WorkerScript {
public:
    explicit WorkerScript(const std::string& on_see) {
        std::ofstream file(program());
        file << "#!/bin/sh\n"
             << "folder='" << folder_.path() << "'\n"
             << "case $1 in insitu-worker) kind=analyses;; -m) kind=scripts; shift;; *) exec '" << forebay_program()
             << "' \"$@\";; esac\n"
             << "echo $$ $PPID \"$2\" >> $folder/starts\n"
             << "wait_for() { while [ ! -e $folder/$1 ]; do sleep 0.01; done; }\n"
             << "while read word slot id step; do\n"
             << "echo \"$word $slot $id $step\" >> $folder/asked\n"
             << on_see << "\ndone\n";
        file.close();
        std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
    }

    std::string program() const { return folder_ / "worker"; }
    std::string operator/(std::string_view name) const { return folder_ / name; }
    /// Lets `wait_for NAME` continue.
    void give(const std::string& name) const { std::ofstream(folder_ / name).close(); }
    std::vector<std::string> lines(const std::string& name) const {
        std::istringstream text(text_in(folder_ / name));
        std::vector<std::string> all;
        for (std::string line; std::getline(text, line);) all.push_back(line);
        return all;
    }
    /// Waits until the worker has received this many commands.
    bool was_asked(std::size_t times) const {
        return soon([&] { return lines("asked").size() >= times; });
    }
    /// Waits for the file NAME in $folder.
    bool has(const std::string& name) const {
        return soon([&] { return std::filesystem::exists(folder_ / name); });
    }
    /// The process of the last start.
    pid_t process() const { return last_start().process; }
    /// The process that made the last start.
    pid_t agent() const { return last_start().agent; }

private:
    struct Start {
        pid_t process = 0, agent = 0;
    };
    Start last_start() const {
        Start start;
        if (const auto starts = lines("starts"); !starts.empty())
            std::istringstream(starts.back()) >> start.process >> start.agent;
        return start;
    }
    TempDirectory folder_;
};

inline Analysis every(std::int64_t steps) {
    return {.name = "means", .kind = Analysis::Kind::statistics, .variables = {"*"}, .every = steps};
}

}  // namespace forebay::test
