// Blocks come in groups: the columns of one table from one rank, or arrays of a rank with equal boxes. All variables of
// a group advance together, some elements at a time. So an operator sees them side by side, each byte is verified once,
// and the next operator finds the data in the cache.

#include "insight/insitu/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/glob.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay::insitu {

namespace {

// Elements of a piece: for the widest type, f64, half of a core's L2. A segment holds a whole number of pieces, so a
// piece never spans two segments.
constexpr std::uint64_t piece_elements = 1u << 16;
static_assert(limits::segment_bytes % (piece_elements * 16) == 0, "a piece lies in one segment, whatever its type");

// Variables with equal keys have blocks that advance together.
using GroupKey = std::tuple<std::uint32_t, bool, std::uint32_t, std::vector<std::uint64_t>>;

GroupKey group_of(const Variable& variable, const format::Block& block, std::size_t position) {
    std::vector<std::uint64_t> box;
    const bool particles = variable.kind == Kind::particles;
    if (!particles)
        for (int dim = 0; dim < block.box.lo.dims(); ++dim) {
            box.push_back(block.box.lo[dim]);
            box.push_back(block.box.size[dim]);
        }
    else box.push_back(position);
    return {block.rank, particles, particles ? variable.table : 0, std::move(box)};
}

// The verified bytes of a block, one segment at a time.
class SegmentWindow {
public:
    SegmentWindow(const catalog::BlockReader& node, std::size_t block) : node_(&node), block_(block) {}

    /// The bytes must lie in one segment.
    Result<std::span<const std::byte>> bytes(std::uint64_t at, std::uint64_t size,
                                             catalog::BlockReader::Scratch& scratch) {
        const auto index = at / limits::segment_bytes;
        if (!current_ || *current_ != index) {
            FB_TRY_ASSIGN(segment, node_->segment(block_, index, buffer_, scratch));
            segment_ = segment;
            current_ = index;
        }
        return segment_.subspan(at % limits::segment_bytes, size);
    }

private:
    const catalog::BlockReader* node_;
    std::size_t block_;
    std::optional<std::uint64_t> current_;
    std::span<const std::byte> segment_;
    std::vector<std::byte> buffer_;
};

std::vector<BlockGroup> groups_of(const format::NodeFile& head, const std::set<std::size_t>& wanted) {
    std::map<GroupKey, BlockGroup> groups;
    for (const auto variable : wanted) {
        std::map<std::uint32_t, std::size_t> position;  // number of blocks seen, by rank
        for (auto block = head.first_block[variable]; block < head.first_block[variable + 1]; ++block) {
            const auto& place = head.blocks[block];
            if (place.size_bytes == 0) continue;
            // A rank may have several blocks of a column: their position pairs them with blocks of other columns.
            const auto key = group_of(head.schema.variables[variable], place, position[place.rank]++);
            groups[key][variable] = block;
        }
    }
    std::vector<BlockGroup> all;
    for (auto& [key, group] : groups) all.push_back(std::move(group));
    // In the order of the file.
    std::ranges::sort(all, {},
                      [&](const BlockGroup& group) { return head.blocks[group.begin()->second].offset_bytes; });
    return all;
}

std::string names_of(const Schema& schema, std::span<const std::size_t> variables) {
    std::string text;
    for (const auto variable : variables) text += " " + schema.variables[variable].name;
    return text;
}

// The reason why these variables cannot be analysed together, or "".
std::string mismatch(const Schema& schema, std::span<const std::size_t> variables) {
    const auto& first = schema.variables[variables.front()];
    for (const auto index : variables) {
        const auto& other = schema.variables[index];
        if (other.kind != first.kind)
            return fmt::format("'{}' is of kind {}, '{}' of kind {}", first.name, name_of(first.kind), other.name,
                               name_of(other.kind));
        if (other.kind == Kind::particles && other.table != first.table)
            return fmt::format("'{}' and '{}' are columns of two tables", first.name, other.name);
        if (other.kind == Kind::array && other.shape != first.shape)
            return fmt::format("'{}' is {}, '{}' {}", first.name, show_shape(first.shape), other.name,
                               show_shape(other.shape));
    }
    return "";
}

struct Chosen {
    std::vector<std::size_t> variables;
    std::vector<std::string> problems;  // patterns without a matching variable
};

// The variables of an analysis, in order. A pattern stands for all matching arrays and columns.
Chosen variables_of(const Analysis& analysis, const Schema& schema) {
    Chosen chosen;
    auto& [list, problems] = chosen;
    for (const auto& wish : analysis.variables) {
        const bool is_pattern = wish.find('*') != std::string::npos;
        bool is_found = false;
        for (std::size_t i = 0; i < schema.variables.size(); ++i) {
            const auto& variable = schema.variables[i];
            if (!matches(wish, variable.name) || std::ranges::find(list, i) != list.end()) continue;
            if (is_pattern && (variable.kind == Kind::replicated || variable.type.scalar == Scalar::string)) continue;
            is_found = true;
            if (variable.kind == Kind::replicated)
                problems.push_back(
                    fmt::format("'{}' is replicated, but analyses take arrays and particles", variable.name));
            else if (variable.kind == Kind::array && variable.elements() == 0)
                problems.push_back(
                    fmt::format("'{}' has no elements: its shape is {}", variable.name, show_shape(variable.shape)));
            else list.push_back(i);
        }
        if (!is_found) problems.push_back(fmt::format("no variable matches '{}', or it is given twice", wish));
    }
    return chosen;
}

}  // namespace

Work Work::plan(std::span<const Analysis> analyses, const Schema& schema, const Moment& moment) {
    Work work(moment);
    for (const auto& analysis : analyses) {
        if (moment.step % analysis.every != 0 || analysis.kind == Analysis::Kind::script) continue;
        const auto [variables, problems] = variables_of(analysis, schema);
        for (const auto& problem : problems)
            work.problems_.push_back(fmt::format("analysis '{}': {}", analysis.name, problem));
        // A joint analysis needs all its variables; other kinds go on without the failed variables.
        if (!looks_at_several(analysis.kind))
            for (const auto variable : variables) work.add(analysis, schema, {variable});
        else if (problems.empty()) work.add(analysis, schema, variables);
    }
    return work;
}

void Work::add(const Analysis& analysis, const Schema& schema, std::vector<std::size_t> variables) {
    Task task{analysis, std::move(variables), {}, nullptr};
    task.name = analysis.name + names_of(schema, task.variables);
    std::vector<Variable> chosen;
    for (const auto index : task.variables) chosen.push_back(schema.variables[index]);
    auto analyser = Result<std::unique_ptr<Analyser>>(nullptr);
    if (const auto why = mismatch(schema, task.variables); !why.empty()) analyser = Error{ErrorKind::refused, why};
    else analyser = make_analyser(analysis, chosen);
    if (analyser) task.analyser = std::move(*analyser);
    else fail(task, analyser.error());
    tasks_.push_back(std::move(task));
}

void Work::fail(Task& task, const Error& error) {
    problems_.push_back(fmt::format("analysis '{}': {}", task.name, error.what));
    task.analyser.reset();
}

Result<> Work::see(const catalog::BlockReader& node, const std::function<bool()>& go_on) {
    const auto& head = node.head();
    std::set<std::size_t> wanted;
    for (const auto& task : tasks_)
        if (task.analyser) wanted.insert(task.variables.begin(), task.variables.end());
    catalog::BlockReader::Scratch scratch;
    for (const auto& group : groups_of(head, wanted)) FB_TRY(see_group(node, group, go_on, scratch));
    return {};
}

// The tasks for variables of the group. A task fails if the group has only some of its variables: then the ranks own
// different boxes of them.
std::vector<Work::Task*> Work::tasks_of(const BlockGroup& group) {
    std::vector<Task*> there;
    for (auto& task : tasks_) {
        if (!task.analyser) continue;
        const auto count = std::ranges::count_if(task.variables, [&](auto v) { return group.contains(v); });
        if (count == 0) continue;
        if (std::cmp_equal(count, task.variables.size())) there.push_back(&task);
        else fail(task, {ErrorKind::refused, "a rank owns its variables in boxes that differ"});
    }
    return there;
}

Result<> Work::see_group(const catalog::BlockReader& node, const BlockGroup& group, const std::function<bool()>& go_on,
                         catalog::BlockReader::Scratch& scratch) {
    const auto tasks = tasks_of(group);
    if (tasks.empty()) return {};
    const auto& head = node.head();
    std::map<std::size_t, SegmentWindow> windows;
    for (const auto& task : tasks)
        for (const auto variable : task->variables) windows.try_emplace(variable, node, group.at(variable));
    const auto& place = head.blocks[group.begin()->second];
    const auto elements = place.size_bytes / head.schema.variables[group.begin()->first].type.size_bytes;
    std::map<std::size_t, std::span<const std::byte>> bytes;
    std::vector<std::span<const std::byte>> columns;
    for (std::uint64_t first = 0; first < elements; first += piece_elements) {
        // Asked before each piece: a save that needs the slot must not wait.
        if (go_on && !go_on()) return Error{ErrorKind::retry, "the analysis was stopped"};
        const auto count = std::min(piece_elements, elements - first);
        // Verified once, for all tasks.
        for (auto& [variable, window] : windows) {
            const auto size = head.schema.variables[variable].type.size_bytes;
            FB_TRY_ASSIGN(piece, window.bytes(first * size, count * size, scratch));
            bytes[variable] = piece;
        }
        for (auto* const task : tasks) {
            columns.clear();
            for (const auto variable : task->variables) columns.push_back(bytes[variable]);
            task->analyser->take({columns, first, count, place.box, place.rank});
        }
    }
    return {};
}

std::vector<TaskPart> Work::parts() const {
    std::vector<TaskPart> parts;
    for (const auto& task : tasks_)
        if (task.analyser) parts.push_back({task.name, task.analyser->part()});
    return parts;
}

void Work::merge(std::span<const TaskPart> parts) {
    for (auto& task : tasks_) {
        if (!task.analyser) continue;
        const auto part = std::ranges::find(parts, task.name, &TaskPart::task);
        if (part == parts.end()) {
            fail(task, {ErrorKind::missing, "a node could not make its part"});
            continue;
        }
        if (const auto merged = task.analyser->merge(part->bytes); !merged) fail(task, merged.error());
    }
}

std::vector<AnalysisResults> Work::make() {
    std::vector<AnalysisResults> all;
    for (auto& task : tasks_) {
        if (!task.analyser) continue;
        auto task_results = task.analyser->make(moment_);
        if (!task_results) {
            fail(task, task_results.error());
            continue;
        }
        // Tasks of an analysis are neighbours, and share an entry.
        if (all.empty() || all.back().analysis.name != task.analysis.name) all.push_back({task.analysis, {}, {}});
        auto& results = all.back();
        std::ranges::move(task_results->variables, std::back_inserter(results.variables));
        std::ranges::move(task_results->pictures, std::back_inserter(results.pictures));
        // Frees the operator's memory before the next operator makes its results.
        task.analyser.reset();
    }
    return all;
}

}  // namespace forebay::insitu
