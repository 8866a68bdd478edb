#include "insight/report/darshan_servers.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "path/telemetry/median.hpp"

namespace forebay::report {

namespace {

constexpr std::string_view blanks = " \t\r=";

// Of "10.1.1.2@o2ib" in a line that says more.
std::string_view address_in(std::string_view line) {
    const auto at = line.rfind('@');
    if (at == line.npos) return {};
    const auto before = line.find_last_of(blanks, at);
    const auto begin = before == line.npos ? 0 : before + 1;
    const auto end = line.find_first_of(blanks, at);
    return line.substr(begin, end == line.npos ? end : end - begin);
}

}  // namespace

std::map<std::uint32_t, std::string> servers_in(std::string_view text) {
    constexpr std::string_view prefix = "OST";
    constexpr std::size_t digits = 4;
    std::map<std::uint32_t, std::string> servers;
    while (!text.empty()) {
        const auto length = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, length);
        text.remove_prefix(std::min(length + 1, text.size()));
        const auto address = address_in(line);
        const auto name = line.find(prefix);
        if (address.empty() || name == line.npos) continue;
        const auto number = line.substr(name + prefix.size(), digits);
        std::uint32_t target = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), target, 16);
        if (error == std::errc{} && end == number.data() + digits) servers[target] = address;
    }
    return servers;
}

std::vector<DarshanServer> by_server(const DarshanMount& mount, const std::map<std::uint32_t, std::string>& servers) {
    std::map<std::string, std::vector<const DarshanTarget*>> groups;
    for (const auto& target : mount.targets) {
        const auto server = servers.find(target.number);
        groups[server == servers.end() ? "" : server->second].push_back(&target);
    }
    std::vector<DarshanServer> all;
    for (const auto& [name, targets] : groups) {
        DarshanServer server{.name = name, .targets = targets.size()};
        std::vector<double> ratios;
        for (const auto* const target : targets) {
            server.slow_targets += target->is_slow ? 1 : 0;
            server.files += target->files;
            server.bytes += target->bytes;
            server.seconds = std::max(server.seconds, target->seconds);
            ratios.push_back(target->ratio);
        }
        server.ratio = telemetry::median_of(ratios);
        server.is_slow = !name.empty() && server.slow_targets >= 2 && 2 * server.slow_targets >= server.targets;
        all.push_back(std::move(server));
    }
    std::ranges::stable_sort(all, {},
                             [](const DarshanServer& server) { return std::pair(!server.is_slow, server.ratio); });
    return all;
}

}  // namespace forebay::report
