// Chooses the agents of a job that also write for excluded or slow nodes. Every node makes the same choice, from one
// byte of each node.

#include <fmt/format.h>

#include <algorithm>

#include "bindings/api/session_opening.hpp"
#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/host_list.hpp"
#include "core/forward/message.hpp"
#include "core/sys/machine.hpp"
#include "path/agent/neighbours.hpp"

namespace forebay {

namespace {

// The default if hosts are excluded: one writes, and another is its spare.
constexpr std::uint32_t helpers_usual = 2;
constexpr std::uint64_t exclude_file_bytes_max = 4u << 20;

// "nid7" excludes all virtual nodes of the host, "nid7/2" one of them. A list may leave out the domain of a host.
Result<bool> is_excluded(const std::string& list, const std::string& host, std::uint32_t virtual_index) {
    auto text = list;
    if (list.starts_with('@')) {
        FB_TRY_ASSIGN(path, absolute_path(list.substr(1), "the file of agent.exclude_nodes"));
        auto read = sys::read_text(sys::posix_store(), path, exclude_file_bytes_max);
        if (!read) return with_context(read.error(), "agent.exclude_nodes: " + read.error().what);
        text = std::move(*read);
    }
    const auto names = describe::hosts_of(text);
    if (!names)
        return with_context(names.error(), fmt::format("agent.exclude_nodes = \"{}\": {}", list, names.error().what));
    const auto is_named = [&](const std::string& name) {
        return std::ranges::find(*names, name) != names->end() ||
               std::ranges::find(*names, fmt::format("{}/{}", name, virtual_index)) != names->end();
    };
    return is_named(host) || is_named(host.substr(0, host.find('.')));
}

// The role of the agent of node `index`; empty without helpers. `flags` is 1 for each excluded node.
node::Neighbourhood neighbourhood_of(const std::vector<char>& flags, std::uint32_t index, const AgentOptions& agent) {
    node::Neighbourhood own;
    const std::vector<bool> excluded(flags.begin(), flags.end());
    auto wanted = static_cast<std::uint32_t>(agent.neighbours);
    if (wanted == 0 && std::ranges::count(flags, 1) > 0) wanted = helpers_usual;
    const auto helpers = agent::helpers_of(excluded, wanted);
    if (helpers.empty()) return own;
    own.helpers = static_cast<std::uint32_t>(helpers.size());
    if (const auto helper = std::ranges::find(helpers, index); helper != helpers.end())
        own.number = static_cast<std::uint32_t>(helper - helpers.begin());
    // Nodes begin at different helpers, so that the load is even.
    own.first = index % own.helpers;
    own.excluded = excluded[index];
    own.avoid_slow = agent.avoid_slow_nodes;
    own.address = agent.forward_address;
    return own;
}

}  // namespace

Result<node::Neighbourhood> find_neighbours(const AgentOptions& agent, const comm::Topology& topology,
                                            const node::Say& say) {
    auto& world = *topology.world;
    node::Neighbourhood own;
    // With forwarders no neighbour is needed: forwarders write for all nodes.
    if (agent.forwarders > 0 || !agent.forward_to.empty() || (agent.exclude_nodes.empty() && agent.neighbours == 0))
        return own;
    std::string token;
    std::vector<char> flags;
    char flag = 0;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        // One token for the session: helpers admit only its agents.
        if (world.rank() == 0) token = forward::new_token();
        if (!topology.leads()) return {};
        FB_TRY_ASSIGN(excluded, is_excluded(agent.exclude_nodes, sys::host_name(), topology.virtual_index));
        flag = excluded ? 1 : 0;
        flags.resize(topology.nodes);
        return {};
    }));
    FB_TRY(world.broadcast_sized(token, 0));
    if (topology.leads())
        topology.leaders->gather_all(std::as_bytes(std::span(&flag, 1)), std::as_writable_bytes(std::span(flags)));
    FB_TRY(comm::agree(world, [&] {
        if (!topology.leads()) return;
        own = neighbourhood_of(flags, topology.node_index, agent);
        if (own.helpers > 0) own.token = std::move(token);
        const auto excluded = std::ranges::count(flags, 1);
        if (excluded == 0) return;
        log_to(say, [&] {
            return own.helpers > 0
                       ? fmt::format("{} of {} nodes are excluded. {} nodes write for them", excluded, topology.nodes,
                                     own.helpers)
                       : note_line("agent.exclude_nodes excludes all nodes of this job, so they write themselves",
                                   "ask for other nodes, or shorten the list");
        });
    }));
    return own;
}

}  // namespace forebay
