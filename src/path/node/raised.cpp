#include "path/node/raised.hpp"

namespace forebay::node {

bool put_raised(Control& page, std::uint32_t stream, const Raised& raised) {
    const auto number = page.raised_put.load();
    if (number - page.raised_taken.load() >= raised_max) return false;
    auto& entry = page.raised[number % raised_max];
    entry.stream = stream;
    entry.actions = raised.actions;
    entry.step = raised.step;
    entry.snapshot_id = raised.snapshot_id;
    entry.session = raised.line.session;
    entry.turn = raised.line.turn;
    entry.value = raised.value;
    set_text(entry.text, raised.text);
    page.raised_put.store(number + 1);
    return true;
}

std::vector<Raised> take_raised(Control& page) {
    std::vector<Raised> all;
    const auto end = page.raised_put.load();
    for (auto number = page.raised_taken.load(); number < end; ++number) {
        const auto& entry = page.raised[number % raised_max];
        all.push_back({.stream = page.streams[entry.stream].name.data(),
                       .step = entry.step,
                       .snapshot_id = entry.snapshot_id,
                       .line = {entry.session, entry.turn},
                       .actions = entry.actions,
                       .value = entry.value,
                       .text = entry.text.data()});
    }
    page.raised_taken.store(end);
    return all;
}

}  // namespace forebay::node
