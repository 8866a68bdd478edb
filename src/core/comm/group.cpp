#include "core/comm/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"

namespace forebay::comm {

namespace {

// Adds the reporting rank, once. If several groups agreed on an error in turn, such as a node and then the world, the
// rank in the last group counts.
std::string with_reporter(std::string text, int rank) {
    constexpr std::string_view mark = " (reported by rank ";
    if (const auto begin = text.find(mark); begin != text.npos)
        if (const auto end = text.find(')', begin); end != text.npos) text.erase(begin, end + 1 - begin);
    return fmt::format("{}{}{})", text, mark, rank);
}

class Alone final : public Group {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void barrier() override {}
    void max(std::span<std::int64_t>) override {}
    void sum(std::span<std::int64_t>) override {}
    void gather_all(std::span<const std::byte> own_bytes, std::span<std::byte> all) override {
        std::ranges::copy(own_bytes, all.begin());
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

Result<std::vector<std::vector<std::byte>>> Group::gather_all_sized(std::span<const std::byte> own_bytes) {
    const auto ranks = static_cast<std::size_t>(size());
    const auto widest = static_cast<std::size_t>(max(static_cast<std::int64_t>(own_bytes.size())));
    // Each string has its size before it.
    const auto place = sizeof(std::uint64_t) + widest;
    std::vector<std::byte> own, all;
    std::vector<std::vector<std::byte>> strings;
    // Agreed, because a rank without memory must not leave the other ranks in the gather below.
    FB_TRY(agree(*this, [&] {
        own.resize(place);
        all.resize(place * ranks);
        strings.resize(ranks);
        for (auto& string : strings) string.reserve(widest);
    }));
    store_le(own.data(), static_cast<std::uint64_t>(own_bytes.size()));
    std::ranges::copy(own_bytes, own.begin() + sizeof(std::uint64_t));
    gather_all(own, all);
    for (std::size_t i = 0; i < ranks; ++i) {
        const auto theirs = std::span(all).subspan(i * place, place);
        const auto bytes = theirs.subspan(sizeof(std::uint64_t), load_le<std::uint64_t>(theirs.data()));
        strings[i].assign(bytes.begin(), bytes.end());
    }
    return strings;
}

namespace {

template <class Sized>
Result<> broadcast_any(Group& group, Sized& sized, int root) {
    std::uint64_t size = sized.size();
    group.broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
    // Agreed, because a rank without memory must not leave the other ranks in the broadcast below.
    FB_TRY(agree(group, [&] { sized.resize(size); }));
    group.broadcast(std::as_writable_bytes(std::span(sized.data(), sized.size())), root);
    return {};
}

// An error on its way from the reporting rank to the other ranks, in memory that is already there.
struct Posted {
    struct Part {
        std::uint64_t size = 0;
        std::array<char, 2048> text{};  // our longest text has half of this

        void take(const std::string& all) {
            size = all.copy(text.data(), text.size());
            // Never cuts within a character of several bytes.
            while (size < all.size() && size > 0 && (static_cast<unsigned char>(all[size]) & 0xc0) == 0x80) --size;
        }
        std::string give() const { return {text.data(), size}; }
    };

    std::int64_t kind = 0;
    Part what, safe, next;

    void take(const Error& error) {
        kind = static_cast<std::int64_t>(error.kind);
        what.take(error.what);
        safe.take(error.safe);
        next.take(error.next);
    }
    Error give() const { return {static_cast<ErrorKind>(kind), what.give(), safe.give(), next.give()}; }
};

}  // namespace

Result<> Group::broadcast_sized(std::vector<std::byte>& bytes, int root) { return broadcast_any(*this, bytes, root); }
Result<> Group::broadcast_sized(std::string& text, int root) { return broadcast_any(*this, text, root); }

Result<> agree(Group& group, const Result<>& own_outcome) {
    // The lowest failing rank reports for all: max over (size - rank) of the failing ranks.
    const auto voice = group.max(own_outcome ? 0 : group.size() - group.rank());
    if (voice == 0) return {};
    const int speaker = group.size() - static_cast<int>(voice);
    Posted spoken;
    if (speaker == group.rank()) spoken.take(own_outcome.error());
    group.broadcast(std::as_writable_bytes(std::span(&spoken, 1)), speaker);
    return attempt([&]() -> Result<> {
        auto error = spoken.give();
        if (group.size() > 1) error.what = with_reporter(std::move(error.what), speaker);
        return error;
    });
}

Result<Topology> find_topology(std::unique_ptr<Group> world, int virtual_nodes) {
    Topology topology;
    topology.machine = world->split_shared();
    auto& machine = topology.machine;
    const int parts = std::clamp(virtual_nodes, 1, machine->size());
    const int part = static_cast<int>(static_cast<std::int64_t>(machine->rank()) * parts / machine->size());
    topology.virtual_index = static_cast<std::uint32_t>(part);
    FB_TRY(agree(*world, [&] {
        topology.node = machine->split(part);
        topology.node_ranks.resize(static_cast<std::size_t>(topology.node->size()));
    }));
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
    topology.node->gather_all(std::as_bytes(std::span(&rank, 1)),
                              std::as_writable_bytes(std::span(topology.node_ranks)));
    topology.world = std::move(world);
    return topology;
}

}  // namespace forebay::comm
