// The expected content of a run, in the simplest form: each line is the list of its saves, and replaying them gives the
// state of the run. The model knows nothing of manifests, names and line numbers.

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
    /// `keep` as in the options of streams. 0 removes nothing.
    explicit Model(int keep = 0) : keep_(keep) {}

    /// The next saves go on from `step`; -1: from the beginning. `removes`: saves that the run leaves are removed, as
    /// by `forebay prune --above`.
    void begin_line(std::int64_t step, bool removes = false);
    void save(std::int64_t step, std::int64_t value);
    /// Does the same as `forebay prune --line` of the last line.
    void drop_last_line();
    bool last_line_has_saves() const { return !lines_.empty() && !lines_.back().saved.empty(); }

    /// The current state of the run.
    Values living() const;
    /// Saves that the run left but must still hold, because too few newer saves exist.
    std::set<std::int64_t> left() const;
    /// True if retention may have removed the value. Retention counts any save that it does not know to be needed.
    bool may_be_gone(std::int64_t value) const { return may_be_gone_.contains(value); }
    /// True if the value was ever saved into this run.
    bool knows(std::int64_t value) const { return all_.contains(value); }

    void put_file(const std::string& path, const std::string& content) { files_[path] = content; }
    const std::map<std::string, std::string>& files() const { return files_; }

private:
    struct Line {
        std::int64_t from = -1;
        std::vector<std::pair<std::int64_t, std::int64_t>> saved;  // step and value, in order
        std::vector<std::int64_t> left;                            // values that were living before the line began
    };
    void count_window();
    std::size_t living_since(std::size_t line) const;

    int keep_;
    std::vector<Line> lines_;
    std::set<std::int64_t> may_be_gone_, all_;
    std::map<std::string, std::string> files_;
};

}  // namespace forebay::campaign
