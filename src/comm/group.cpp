#include "comm/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/bytes.hpp"

namespace forebay::comm {

namespace {

// Says once who reports: behind what failed, before what is safe and the next command. Of several groups that have
// agreed on an error in turn, as a node and then the world, the last one's rank counts.
std::string with_reporter(std::string text, int rank) {
    constexpr std::string_view mark = " (reported by rank ";
    if (const auto begin = text.find(mark); begin != text.npos)
        if (const auto end = text.find(')', begin); end != text.npos) text.erase(begin, end + 1 - begin);
    const auto at = std::min({text.find(" Safe: "), text.find(" Next: "), text.size()});
    return text.insert(at, fmt::format("{}{})", mark, rank));
}

class Alone final : public Group {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void barrier() override {}
    void max(std::span<std::int64_t>) override {}
    void sum(std::span<std::int64_t>) override {}
    void gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
        std::ranges::copy(mine, all.begin());
    }
    void broadcast(std::span<std::byte>, int) override {}
    std::unique_ptr<Group> split(int colour) override { return colour < 0 ? nullptr : alone(); }
    std::unique_ptr<Group> split_shared() override { return alone(); }
};

}  // namespace

std::unique_ptr<Group> alone() { return std::make_unique<Alone>(); }

std::int64_t Group::max(std::int64_t number) {
    max(std::span(&number, 1));
    return number;
}

std::int64_t Group::sum(std::int64_t number) {
    sum(std::span(&number, 1));
    return number;
}

std::vector<std::vector<std::byte>> Group::gather_all_sized(std::span<const std::byte> mine) {
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<std::uint64_t> sizes(ranks);
    const std::uint64_t own = mine.size();
    gather_all(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(sizes)));
    const auto widest = *std::ranges::max_element(sizes);
    std::vector<std::byte> padded(widest);
    std::ranges::copy(mine, padded.begin());
    std::vector<std::byte> all(widest * ranks);
    gather_all(padded, all);
    std::vector<std::vector<std::byte>> strings(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(i * widest);
        strings[i].assign(from, from + static_cast<std::ptrdiff_t>(sizes[i]));
    }
    return strings;
}

void Group::broadcast_sized(std::vector<std::byte>& bytes, int root) {
    std::uint64_t size = bytes.size();
    broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
    bytes.resize(size);
    if (size > 0) broadcast(bytes, root);
}

Result<> agree(Group& group, const Result<>& mine) {
    // The lowest failing rank speaks for all: max over (size - rank) of the ranks that failed.
    const auto voice = group.max(mine ? 0 : group.size() - group.rank());
    if (voice == 0) return {};
    const int speaker = group.size() - static_cast<int>(voice);
    std::vector<std::byte> message;
    if (speaker == group.rank()) {
        message.push_back(static_cast<std::byte>(mine.error().kind));
        const auto text = bytes_of(mine.error().text);
        message.insert(message.end(), text.begin(), text.end());
    }
    group.broadcast_sized(message, speaker);
    const auto kind = static_cast<ErrorKind>(message.at(0));
    const std::string text(text_of(std::span(message).subspan(1)));
    return Error{kind, group.size() > 1 ? with_reporter(text, speaker) : text};
}

Topology find_topology(std::unique_ptr<Group> world, int virtual_nodes) {
    Topology topology;
    auto machine = world->split_shared();
    const int parts = std::clamp(virtual_nodes, 1, machine->size());
    const int part = static_cast<int>(static_cast<std::int64_t>(machine->rank()) * parts / machine->size());
    topology.virtual_index = static_cast<std::uint32_t>(part);
    topology.node = machine->split(part);
    topology.leaders = world->split(topology.leads() ? 0 : -1);
    std::int64_t place[2] = {0, 0};
    if (topology.leads()) {
        place[0] = topology.leaders->rank();
        place[1] = topology.leaders->size();
    }
    topology.node->broadcast(std::as_writable_bytes(std::span(place)), 0);
    topology.node_index = static_cast<std::uint32_t>(place[0]);
    topology.nodes = static_cast<std::uint32_t>(place[1]);
    const auto rank = static_cast<std::uint32_t>(world->rank());
    topology.node_ranks.resize(static_cast<std::size_t>(topology.node->size()));
    topology.node->gather_all(std::as_bytes(std::span(&rank, 1)),
                              std::as_writable_bytes(std::span(topology.node_ranks)));
    topology.world = std::move(world);
    return topology;
}

}  // namespace forebay::comm
