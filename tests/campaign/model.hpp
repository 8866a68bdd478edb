// What a run must hold, kept by the plainest means: every line as the list of its saves, and the state of the run found
// by replaying them one after the other. Knows nothing of manifests, names and numbers of lines.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace forebay::campaign {

/// Values by step; each value is saved once.
using Values = std::map<std::int64_t, std::int64_t>;

class Model {
public:
    /// `keep` as of the streams; 0: nothing is ever removed.
    explicit Model(int keep = 0) : keep_(keep) {}

    /// What is saved from now on goes on from `step`; -1: the run begins anew. `removes`: what the run leaves by that
    /// is removed, as by `forebay prune --above`.
    void begin_line(std::int64_t step, bool removes = false);
    void save(std::int64_t step, std::int64_t value);
    /// `forebay prune --line` of the last line.
    void drop_last_line();
    bool last_line_has_saves() const { return !lines_.empty() && !lines_.back().saved.empty(); }

    /// The state that the run is in.
    Values living() const;
    /// What the run has left, and must have still: too little came after.
    std::set<std::int64_t> left() const;
    /// Whether the value may have been removed: retention counts what it does not know to be needed.
    bool may_be_gone(std::int64_t value) const { return may_be_gone_.contains(value); }
    /// Every value that was ever saved into this run.
    bool knows(std::int64_t value) const { return all_.contains(value); }

    void put_file(const std::string& path, const std::string& content) { files_[path] = content; }
    const std::map<std::string, std::string>& files() const { return files_; }

private:
    struct Line {
        std::int64_t from = -1;
        std::vector<std::pair<std::int64_t, std::int64_t>> saved;  // step and value, in the order of the saves
        std::vector<std::int64_t> left;                            // values that were living before it began
    };
    void count_window();
    std::size_t living_since(std::size_t line) const;

    int keep_;
    std::vector<Line> lines_;
    std::set<std::int64_t> may_be_gone_, all_;
    std::map<std::string, std::string> files_;
};

}  // namespace forebay::campaign
