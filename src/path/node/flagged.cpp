#include "path/node/flagged.hpp"

namespace forebay::node {

bool put_flagged(Control& page, std::uint32_t stream, const Flagged& flagged) {
    const auto number = page.flagged_put.load();
    if (number - page.flagged_taken.load() >= flagged_max) return false;
    auto& entry = page.flagged[number % flagged_max];
    entry.stream = stream;
    entry.actions = flagged.actions;
    entry.step = flagged.step;
    entry.snapshot_id = flagged.snapshot_id;
    entry.session = flagged.line.session;
    entry.turn = flagged.line.turn;
    entry.value = flagged.value;
    set_text(entry.text, flagged.text);
    // The count comes last: a reader that sees it finds a complete entry.
    page.flagged_put.store(number + 1);
    return true;
}

std::vector<Flagged> take_flagged(Control& page) {
    std::vector<Flagged> all;
    const auto end = page.flagged_put.load();
    for (auto number = page.flagged_taken.load(); number < end; ++number) {
        const auto& entry = page.flagged[number % flagged_max];
        all.push_back({.stream = page.streams[entry.stream].name.data(),
                       .step = entry.step,
                       .snapshot_id = entry.snapshot_id,
                       .line = {entry.session, entry.turn},
                       .actions = entry.actions,
                       .value = entry.value,
                       .text = entry.text.data()});
    }
    page.flagged_taken.store(end);
    return all;
}

}  // namespace forebay::node
