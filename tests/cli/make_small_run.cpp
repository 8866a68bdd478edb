// Makes one snapshot of a run for the scripts in this directory: make_small_run RUN STREAM STEP NODES [ID [ARRIVED
// [SESSION]]]
//
// ID (hexadecimal, default f3) separates saves of one step. With ARRIVED only that many node files have arrived; with 0
// all have, but the snapshot is not committed. With SESSION it is committed as a save of that session.

#include <cstdio>
#include <cstdlib>

#include "core/base/try.hpp"
#include "support/committed_run.hpp"

using namespace forebay;

namespace {

Result<> make(const std::string& run, const test::SmallSnapshot& snapshot, bool commits, std::uint32_t arrived) {
    auto& store = sys::posix_store();
    for (std::uint32_t node = 0; node < arrived; ++node) FB_TRY(test::drain_node(store, run, snapshot, node));
    if (!commits) return {};
    FB_TRY(test::commit(store, run, snapshot));
    return {};
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 5 || count > 8)
        return std::fputs("usage: make_small_run RUN STREAM STEP NODES [ID [ARRIVED [SESSION]]]\n", stderr), 2;
    test::SmallSnapshot snapshot;
    snapshot.stream = arguments[2];
    snapshot.step = std::atoll(arguments[3]);
    snapshot.nodes = static_cast<std::uint32_t>(std::atoi(arguments[4]));
    if (count > 5) snapshot.id = std::strtoull(arguments[5], nullptr, 16);
    const auto arrived = count > 6 ? static_cast<std::uint32_t>(std::atoi(arguments[6])) : 0;
    if (count > 7)
        snapshot.lineage.lines = {{{static_cast<std::uint32_t>(std::atoi(arguments[7])), 0}, snapshot.step - 1}};
    const auto result = make(arguments[1], snapshot, count != 7, arrived == 0 ? snapshot.nodes : arrived);
    if (result) return 0;
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    return 1;
}
