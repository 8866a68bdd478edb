// The extension module forebay._forebay_insitu: snapshots for scripts, and the way of their results. Blocks are
// read-only bytes; forebay/insitu.py gives them type and shape.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "core/base/crc32c.hpp"
#include "core/base/glob.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/sys/child.hpp"
#include "core/sys/process.hpp"
#include "core/sys/target_store.hpp"
#include "insight/insitu/judge.hpp"
#include "insight/insitu/node_view.hpp"
#include "insight/insitu/results.hpp"
#include "path/agent/event_sinks.hpp"
#include "path/agent/serve.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/run.hpp"
#include "path/node/analysis_rules.hpp"

namespace nb = nanobind;
using namespace forebay;
using namespace nanobind::literals;

namespace {

using insitu::NodeView;
using Numbers = std::vector<std::uint64_t>;
using Waits = nb::call_guard<nb::gil_scoped_release>;
/// Name, type, shape, unit, bytes.
using Found = std::tuple<std::string, std::string, Numbers, std::string, nb::bytes>;
using Tasks = std::vector<std::pair<std::string, nb::bytes>>;
/// Analysis, condition, result, value, and the text for people.
using Fulfilled = std::tuple<std::string, std::string, std::string, double, std::string>;
/// Text, value, actions.
using Flag = std::tuple<std::string, double, std::vector<std::string>>;

Numbers numbers(const Extents& extents) {
    Numbers all;
    for (int dim = 0; dim < extents.dims(); ++dim) all.push_back(extents[dim]);
    return all;
}

std::vector<std::byte> bytes_in(const nb::bytes& given) {
    const auto* const data = static_cast<const std::byte*>(given.data());
    return {data, data + given.size()};
}

nb::bytes as_bytes(const std::vector<std::byte>& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

std::vector<insitu::FoundVariable> variables_in(const std::vector<Found>& given) {
    std::vector<insitu::FoundVariable> variables;
    for (const auto& [key, type, shape, unit, bytes] : given) {
        Extents extents;
        for (const auto extent : shape) extents.push_back(extent);
        variables.push_back({key, type_named(type).value(), extents, {.unit = unit}, bytes_in(bytes)});
    }
    return variables;
}

std::vector<Analysis::Action> actions_in(const std::vector<std::string>& words) {
    std::vector<Analysis::Action> actions;
    for (const auto& word : describe::action_words)
        if (std::ranges::find(words, word.name) != words.end()) actions.push_back(word.value);
    return actions;
}

nb::list variables_of(const NodeView& view) {
    const auto& head = view.node().head();
    nb::list all;
    for (std::size_t v = 0; v < head.schema.variables.size(); ++v) {
        const auto& variable = head.schema.variables[v];
        const auto& [unit, description, dimensions, others] = variable.attributes;
        nb::list blocks;
        for (auto block = head.first_block[v]; block < head.first_block[v + 1]; ++block) {
            const auto& place = head.blocks[block];
            const bool is_array = variable.kind == Kind::array;
            const Numbers size = variable.kind == Kind::particles ? Numbers{place.size_bytes / variable.type.size_bytes}
                                                                  : numbers(is_array ? place.box.size : variable.shape);
            if (head.stores(v))
                blocks.append(
                    nb::make_tuple(block, place.rank, is_array ? numbers(place.box.lo) : Numbers(size.size()), size));
        }
        all.append(nb::make_tuple(variable.name, name_of(variable.type), std::string(name_of(variable.kind)),
                                  numbers(variable.shape), unit, description, dimensions, others, blocks));
    }
    return all;
}

/// The block's bytes. They stay in place while the array lives.
nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>> block_of(const nb::handle& self, std::size_t block) {
    auto& view = nb::cast<NodeView&>(self);
    const auto bytes = [&] {
        const nb::gil_scoped_release released;
        return view.block(block).value();
    }();
    // The array keeps the view alive, and with it the bytes.
    return {bytes.data(), {bytes.size()}, nb::find(self)};
}

/// A run at its target, from a session on this node or afterwards.
class ScriptRun {
public:
    explicit ScriptRun(std::string run) : store_(std::shared_ptr<void>(), &sys::target_store()), run_(std::move(run)) {}
    /// For the process of a worker: pinned to the CPUs of its agent, and ended with it.
    static std::unique_ptr<ScriptRun> of_session(const std::string& directory) {
        const auto open = [&]() -> Result<std::unique_ptr<ScriptRun>> {
            FB_TRY(sys::end_with_parent());
            FB_TRY_ASSIGN(session, agent::served_session_of(directory));
            FB_TRY(sys::pin_to_cpus(session.agent.cpus.empty() ? "all" : session.agent.cpus));
            FB_TRY_ASSIGN(staging, node::Staging::join(directory));
            FB_TRY_ASSIGN(target, agent::target_of(session.run, session.forwarding, {}));
            auto place = std::make_unique<ScriptRun>(session.run);
            place->store_ = std::move(target.store);
            place->printed_ = {.run = session.run,
                               .run_id = session.run_id,
                               .host = session.host,
                               .virtual_node = node::virtual_index_of(directory),
                               .name = "scripts",
                               .ending = "log"};
            place->staging_.emplace(std::move(staging));
            return place;
        };
        return open().value();
    }

    const std::string& run() const { return run_; }
    void log(const std::string& text) { agent::append(*store_, printed_, text).value(); }
    std::string spool() const { return staging_ ? node::spool_path(staging_->directory()) : ""; }

    std::pair<std::unique_ptr<NodeView>, std::vector<Analysis>> open(std::uint32_t slot, std::uint64_t id) {
        auto sealed = insitu::SealedSlot::open(*staging_, slot, id, node::script_lease_hold).value();
        auto analyses = sealed.analyses();
        return {std::make_unique<NodeView>(std::move(sealed)), std::move(analyses)};
    }
    std::vector<std::unique_ptr<NodeView>> drained(const std::string& directory) {
        const auto read = [&]() -> Result<std::vector<std::unique_ptr<NodeView>>> {
            FB_TRY_ASSIGN(manifest, catalog::load_manifest(*store_, directory));
            std::vector<std::unique_ptr<NodeView>> nodes;
            for (const auto& line : manifest.nodes) {
                FB_TRY_ASSIGN(node, catalog::BlockReader::open(*store_, directory, line));
                nodes.push_back(
                    std::make_unique<NodeView>(insitu::SeenSnapshot{manifest.schema.stream,
                                                                    {manifest.step, manifest.time},
                                                                    manifest.snapshot_id,
                                                                    static_cast<std::uint32_t>(manifest.nodes.size()),
                                                                    manifest.lineage,
                                                                    manifest.sealed_unix_ns},
                                               std::move(node)));
            }
            return nodes;
        };
        return read().value();
    }

    bool has_results(const NodeView& view, const std::string& name) {
        return insitu::has_results(*store_, run_, view.snapshot(), {.name = name}).value();
    }
    /// Marks the snapshot by the conditions on its results and by the flags of a script, if `marks` is set. Call it
    /// before write_results(). Returns the lines for the agent, and the fulfilled conditions. If all functions have
    /// looked, a condition on a missing result is a problem.
    std::pair<std::vector<std::string>, std::vector<Fulfilled>> act(const NodeView& view, const Analysis& analysis,
                                                                    const std::vector<Found>& given, bool all_looked,
                                                                    const std::vector<Flag>& flags, bool marks) {
        std::vector<insitu::Judgement> judgements;
        if (!given.empty()) judgements.push_back(insitu::judge(analysis, variables_in(given)));
        // A condition on a result that is missing is no problem yet: the other functions may still give it.
        if (!given.empty() && !all_looked) judgements.front().problems.clear();
        for (const auto& [text, value, actions] : flags)
            judgements.push_back(insitu::flagged(analysis, text, value, actions_in(actions)));
        std::vector<std::string> lines;
        std::vector<Fulfilled> fulfilled;
        for (auto& judgement : judgements) {
            if (marks && !judgement.fulfilled.empty()) {
                check_identity();
                const nb::gil_scoped_release released;
                insitu::mark_snapshot(*store_, run_, view.snapshot(), judgement);
            }
            std::ranges::move(insitu::lines_of(judgement), std::back_inserter(lines));
            for (const auto& mark : judgement.fulfilled)
                fulfilled.emplace_back(mark.analysis, mark.condition, mark.result, mark.value, words_of(mark));
        }
        return {lines, fulfilled};
    }
    void write_results(const NodeView& view, const std::string& name, const std::vector<Found>& given) {
        check_identity();
        const insitu::AnalysisResults results{{.name = name}, variables_in(given), {}};
        const nb::gil_scoped_release released;
        insitu::write_results(*store_, run_, view.snapshot(), results).value();
    }

    /// Stores this node's part. On the last node it returns the parts of all nodes.
    std::optional<std::vector<Tasks>> join(const NodeView& view, const std::string& name, const std::string& rules,
                                           const Tasks& tasks) {
        check_identity();
        const auto& record = view.node().head().record;
        insitu::NodePart part{
            insitu::analysed_save(record), record.node, record.nodes, crc32c(std::as_bytes(std::span(rules))), {}};
        for (const auto& [task, bytes] : tasks) part.tasks.push_back({task, bytes_in(bytes)});
        const auto parts = [&] {
            const nb::gil_scoped_release released;
            insitu::write_part(*store_, run_, stream_of(view, name), part).value();
            return insitu::take_parts(*store_, run_, stream_of(view, name), part).value();
        }();
        if (!parts) return {};
        std::vector<Tasks> all;
        for (const auto& node_part : *parts)
            for (auto& own = all.emplace_back(); const auto& task : node_part.tasks)
                own.emplace_back(task.task, as_bytes(task.bytes));
        return all;
    }
    void remove_parts(const NodeView& view, const std::string& name) {
        insitu::remove_parts(*store_, run_, stream_of(view, name), insitu::analysed_save(view.node().head().record))
            .value();
    }

private:
    // Parts of built-in analyses lie under the name of their stream, which no stream of results may have.
    static std::string stream_of(const NodeView& view, const std::string& name) {
        return describe::result_stream(view.snapshot().stream, {.name = name});
    }

    void check_identity() {
        if (printed_.run_id != 0) catalog::check_identity(*store_, run_, printed_.run_id).value();
    }

    std::shared_ptr<sys::Store> store_;
    std::string run_;
    agent::NodeFileOfRun printed_;  // only of a session
    std::optional<node::Staging> staging_;
};

}  // namespace

NB_MODULE(_forebay_insitu, module) {
    nb::module_::import_("forebay._forebay");  // it defines the errors
    nb::class_<NodeView>(module, "Node")
        .def_prop_ro("stream", [](const NodeView& self) { return self.snapshot().stream; })
        .def_prop_ro("step", [](const NodeView& self) { return self.snapshot().moment.step; })
        .def_prop_ro("time", [](const NodeView& self) { return self.snapshot().moment.time; })
        .def_prop_ro("node", [](const NodeView& self) { return self.node().head().record.node; })
        .def_prop_ro("nodes", [](const NodeView& self) { return self.snapshot().nodes; })
        .def_prop_ro("has_lease", &NodeView::has_lease)
        .def("variables", &variables_of)
        .def("block", &block_of, "block"_a);
    nb::class_<Analysis>(module, "Analysis")
        .def_ro("name", &Analysis::name)
        .def_ro("script", &Analysis::script)
        .def_ro("every", &Analysis::every)
        .def_ro("memory_limit_bytes", &Analysis::memory_limit_bytes);
    nb::class_<ScriptRun>(module, "ScriptRun")
        .def(nb::init<std::string>(), "run"_a)
        .def_static("of_session", &ScriptRun::of_session, "directory"_a)
        .def_prop_ro("run", &ScriptRun::run)
        .def_prop_ro("spool", &ScriptRun::spool)
        .def("log", &ScriptRun::log, "text"_a, Waits())
        .def("open", &ScriptRun::open, "slot"_a, "snapshot_id"_a)
        .def("drained", &ScriptRun::drained, "directory"_a)
        .def("has_results", &ScriptRun::has_results, "node"_a, "name"_a, Waits())
        .def("act", &ScriptRun::act, "node"_a, "analysis"_a, "found"_a, "all_looked"_a, "flags"_a, "marks"_a)
        .def("write_results", &ScriptRun::write_results, "node"_a, "name"_a, "found"_a)
        .def("join", &ScriptRun::join, "node"_a, "name"_a, "rules"_a, "tasks"_a)
        .def("remove_parts", &ScriptRun::remove_parts, "node"_a, "name"_a, Waits());
    module.def(
        "matches", [](const std::string& pattern, const std::string& name) { return matches(pattern, name); },
        "pattern"_a, "name"_a);
    module.def(
        "show_text", [](const std::string& text) { return show_text(text); }, "text"_a);
    module.def(
        "analyses_in", [](const std::string& text) { return node::decode_analyses(text).value(); }, "text"_a);
    nb::list actions;
    for (const auto& word : describe::action_words) actions.append(std::string(word.name));
    module.attr("action_words") = nb::tuple(actions);
    module.def("step_name", &catalog::step_name, "step"_a);
}
