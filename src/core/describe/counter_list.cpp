#include "core/describe/counter_list.hpp"

#include <fmt/format.h>

#include <optional>

namespace forebay::describe {

namespace {

constexpr std::size_t bytes_listed() {
    std::size_t bytes = 0;
    each_counter([&](const char*, auto member, const char*) { bytes += sizeof(Counters{}.*member); });
    return bytes;
}
static_assert(bytes_listed() == sizeof(Counters), "each counter has its line, and none has two");

constexpr std::size_t node_bytes_listed() {
    std::size_t bytes = 0;
    NodeCounts<Plain> all;
    each_node_count([&](const Count&, auto, auto get) { bytes += sizeof(get(all)); });
    return bytes;
}
static_assert(node_bytes_listed() == sizeof(NodeCounts<Plain>), "each count of a node has its line");

constexpr std::size_t stream_bytes_listed() {
    std::size_t bytes = 0;
    StreamCounts<Plain> all;
    each_stream_count([&](const Count&, auto, auto get) { bytes += sizeof(get(all)); });
    return bytes;
}
static_assert(stream_bytes_listed() == sizeof(StreamCounts<Plain>), "each count of a stream has its line");

}  // namespace

Result<double> counter_named(const Counters& counters, const std::string& name) {
    std::optional<double> number;
    std::string names;
    each_counter([&](const char* known, auto member, const char*) {
        if (name == known) number = static_cast<double>(counters.*member);
        names += (names.empty() ? "" : ", ") + std::string(known);
    });
    if (number) return *number;
    return Error{ErrorKind::refused, fmt::format("there is no counter '{}'", name), "", "one of " + names};
}

std::string counters_text(const Counters& counters) {
    std::string text;
    each_counter(
        [&](const char* name, auto member, const char*) { text += fmt::format("{} {}\n", name, counters.*member); });
    return text;
}

}  // namespace forebay::describe
