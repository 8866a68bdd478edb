// All analyses that a stream has of one snapshot: which variables each looks at, the pieces that they are given, their
// parts and their results.
//
// Life, on each node: plan() -> see() -> parts()            where parts meet: plan() -> merge() of each -> make()
// Of a snapshot whose nodes one process sees: plan() -> see() of each -> make().
//
// An analysis that cannot be made costs itself alone: the others go on, and `problems` says what is missing and why.
//
// Memory: what the operators keep, and a segment for each variable of a block (none over a sealed slot). Threads: one
// at a time; of one process, one Work at a time may make() a spectrum (FFTW's planner).

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "insight/insitu/analyser.hpp"
#include "path/catalog/block_reader.hpp"

namespace forebay::insitu {

/// What one operator has seen on one node: all that is needed to bring it together with those of other nodes.
struct TaskPart {
    std::string task;  // "NAME VARIABLE ..."
    std::vector<std::byte> bytes;
    friend bool operator==(const TaskPart&, const TaskPart&) = default;
};

/// Blocks of one rank that are seen side by side, by variable: indices into NodeFile::blocks.
using BlockGroup = std::map<std::size_t, std::size_t>;

/// The results of one analysis.
struct AnalysisResults {
    Analysis analysis;
    std::vector<FoundVariable> variables;
    std::vector<Picture> pictures;
};

class Work {
public:
    /// Those analyses that this step has, of the variables that are there.
    static Work plan(std::span<const Analysis> analyses, const Schema& schema, const Moment& moment);

    /// Whether there is nothing to do, for lack of analyses of this step.
    bool empty() const { return tasks_.empty(); }
    /// What could not be done, a sentence each.
    const std::vector<std::string>& problems() const { return problems_; }

    /// Gives the blocks of a node's file to the operators, verified, once. An error is of the file, or that `go_on`
    /// (empty: always) has said no between two pieces, which is `retry`; the Work is of no use afterwards.
    Result<> see(const catalog::BlockReader& node, const std::function<bool()>& go_on = {});

    std::vector<TaskPart> parts() const;
    /// The parts of one node; an operator whose part is damaged or absent is left out, and is a problem.
    void merge(std::span<const TaskPart> parts);

    /// Once, after all else.
    std::vector<AnalysisResults> make();

private:
    struct Task {
        Analysis analysis;
        std::vector<std::size_t> variables;  // of the schema
        std::string name;                    // TaskPart::task
        std::unique_ptr<Analyser> analyser;  // none once it has failed
    };
    explicit Work(const Moment& moment) : moment_(moment) {}
    void add(const Analysis& analysis, const Schema& schema, std::vector<std::size_t> variables);
    void fail(Task& task, const Error& error);
    std::vector<Task*> tasks_of(const BlockGroup& group);
    Result<> see_group(const catalog::BlockReader& node, const BlockGroup& group, const std::function<bool()>& go_on,
                       catalog::BlockReader::Scratch& scratch);

    Moment moment_;
    std::vector<Task> tasks_;
    std::vector<std::string> problems_;
};

}  // namespace forebay::insitu
