// All analyses of one snapshot of a stream: their variables, their pieces, their parts and their results.
//
// Life, on each node: plan() -> see() -> parts()            to join the parts: plan() -> merge() of each -> make()
// If one process sees all nodes of a snapshot: plan() -> see() of each -> make().
//
// A failed analysis does not stop the others. `problems` lists it with the reason.
//
// Memory: the state of the operators, and one segment for each variable of a block (none over a sealed slot). Threads:
// one at a time; in a process only one Work at a time may make() a spectrum (FFTW's planner).

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

/// The state of one operator on one node, complete enough to merge it with other nodes.
struct TaskPart {
    std::string task;  // "NAME VARIABLE ..."
    std::vector<std::byte> bytes;
    friend bool operator==(const TaskPart&, const TaskPart&) = default;
};

/// Blocks of one rank to read side by side, by variable: indices into NodeFile::blocks.
using BlockGroup = std::map<std::size_t, std::size_t>;

/// The results of one analysis.
struct AnalysisResults {
    Analysis analysis;
    std::vector<FoundVariable> variables;
    std::vector<Picture> pictures;
};

class Work {
public:
    /// Plans the analyses due at this step, for the variables of `schema`.
    static Work plan(std::span<const Analysis> analyses, const Schema& schema, const Moment& moment);

    /// True if no analysis is due at this step.
    bool empty() const { return tasks_.empty(); }
    /// One sentence for each failure.
    const std::vector<std::string>& problems() const { return problems_; }

    /// Verifies the blocks of a node's file and gives them to the operators, once. An error concerns the file, or is
    /// `retry` if `go_on` returned false between two pieces (empty: never stop). After an error do not use the Work.
    Result<> see(const catalog::BlockReader& node, const std::function<bool()>& go_on = {});

    std::vector<TaskPart> parts() const;
    /// Adds the parts of one node. If a part is damaged or absent, its operator is dropped and becomes a problem.
    void merge(std::span<const TaskPart> parts);

    /// Once, after all else.
    std::vector<AnalysisResults> make();

private:
    struct Task {
        Analysis analysis;
        std::vector<std::size_t> variables;  // indices into the schema
        std::string name;                    // TaskPart::task
        std::unique_ptr<Analyser> analyser;  // null after a failure
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
