// A node with one sealed slot under a lease, and its analysis worker in this process.

#pragma once

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "insight/insitu/worker.hpp"
#include "path/catalog/run.hpp"
#include "support/cut_fields.hpp"
#include "support/temp_directory.hpp"

namespace forebay::test {

inline Analysis means_of(std::string variable) {
    Analysis means;
    means.name = "means";
    means.variables = {std::move(variable)};
    return means;
}

/// The slot holds a node of a snapshot of CutFields. The staging directory and the spool are on the real file system,
/// whatever the target is.
struct LeasedNode {
    LeasedNode(const TempDirectory& folder, const CutFields& cut, std::uint32_t node, std::vector<Analysis> analyses,
               sys::Store& target = sys::posix_store())
        : run(folder / "run") {
        session.run = run;
        session.run_id = catalog::make_identity(target, run).value();
        const auto directory = node::staging_directory(folder.path(), run, session.run_id, node).value();
        staging.emplace(node::Staging::create(node::LockedDirectory::lock(directory, run).value(), session,
                                              std::chrono::milliseconds(0))
                            .value());
        StreamOptions options;
        options.insitu = std::move(analyses);
        stream = staging->add_stream("fields", options).value();
        slot = staging->slots_of(stream).front();
        const auto image = cut.node_file(node);
        auto mapping = sys::Mapping::create(staging->slot_path(slot), image.size()).value();
        std::ranges::copy(image, mapping.bytes().begin());
        auto& control = staging->control().slots[slot];
        control.snapshot_id = CutFields::id;
        control.step = CutFields::step;
        control.holds = node::lease_hold;
        sys::posix_store().make_directories(node::spool_path(directory)).value();
    }

    /// The answers of a new worker to these lines.
    std::string answers(const std::string& lines, sys::Store& target = sys::posix_store()) const {
        insitu::InsituWorker worker(target, node::Staging::join(staging->directory()).value(), session);
        std::istringstream in(lines);
        std::ostringstream out;
        worker.serve(in, out);
        return out.str();
    }
    std::string see() const { return "see " + std::to_string(slot) + " " + std::to_string(CutFields::id) + " 120\n"; }

    std::string run;
    node::SessionFile session;
    std::optional<node::Staging> staging;
    std::uint32_t stream = 0, slot = 0;
};

}  // namespace forebay::test
