#include "insight/advice/preflight/site_texts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/text_lines.hpp"

namespace forebay::advice {

namespace {

constexpr std::uint64_t kib_of_quota_max = UINT64_MAX / 1024;

// "/scratch[OST:7]" or "/scratch[OST:7]DS": the index, then the letters.
struct OstPlace {
    std::uint64_t index = 0;
    std::string_view letters;
};
std::optional<OstPlace> ost_place(std::string_view word) {
    constexpr std::string_view mark = "[OST:";
    const auto at = word.rfind(mark);
    if (at == word.npos) return std::nullopt;
    const auto close = word.find(']', at);
    if (close == word.npos) return std::nullopt;
    const auto index = number_of<std::uint64_t>(word.substr(at + mark.size(), close - at - mark.size()));
    if (!index) return std::nullopt;
    return OstPlace{*index, word.substr(close + 1)};
}

// The hexadecimal digits of "scratch-OST000a".
std::optional<std::uint64_t> index_in_name(std::string_view name) {
    const auto at = name.rfind("-OST");
    if (at == name.npos) return std::nullopt;
    const auto digits = name.substr(at + 4);
    std::uint64_t index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return index;
}

std::string_view without(std::string_view text, std::string_view end) {
    return text.ends_with(end) ? text.substr(0, text.size() - end.size()) : text;
}

// Reads "key=value" from a line with commas between its parts.
std::optional<std::uint64_t> counted(std::string_view line, std::string_view key) {
    const auto at = line.find(key);
    if (at == line.npos) return std::nullopt;
    const auto rest = line.substr(at + key.size());
    return number_of<std::uint64_t>(rest.substr(0, rest.find_first_not_of("0123456789")));
}

// Reads "min:6.5 GB, ..." or "Total size: 200 TB".
std::optional<double> amount_behind(std::string_view line, std::string_view key) {
    const auto at = line.find(key);
    if (at == line.npos) return std::nullopt;
    const auto words = words_of(line.substr(at + key.size()).substr(0, line.substr(at + key.size()).find(',')));
    if (words.empty()) return std::nullopt;
    return read_amount(std::string(words[0]) + (words.size() > 1 ? std::string(words[1]) : ""));
}

std::uint64_t bytes_of_quota(std::string_view word) {
    while (!word.empty() && (word.back() == '*' || word.back() == ']')) word.remove_suffix(1);
    while (!word.empty() && word.front() == '[') word.remove_prefix(1);
    if (const auto kib = number_of<std::uint64_t>(word)) return *kib > kib_of_quota_max ? UINT64_MAX : *kib * 1024;
    const auto amount = read_amount(word);
    return amount && *amount < 9e18 ? static_cast<std::uint64_t>(*amount) : 0;
}
std::uint64_t count_of_quota(std::string_view word) {
    while (!word.empty() && (word.back() == '*' || word.back() == ']')) word.remove_suffix(1);
    while (!word.empty() && word.front() == '[') word.remove_prefix(1);
    return number_of<std::uint64_t>(word).value_or(0);
}

}  // namespace

std::optional<double> read_amount(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
    auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
    if (unit.empty() || unit == "B") return number;
    constexpr std::string_view letters = "kmgtpe";
    // The bit 0x20 makes an ASCII letter lower-case.
    const auto power = letters.find(static_cast<char>(unit[0] | 0x20));
    if (power == letters.npos) return std::nullopt;
    unit.remove_prefix(1);
    if (!unit.empty() && unit != "B" && unit != "iB") return std::nullopt;
    return number * std::pow(unit == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
}

std::vector<OstState> read_lfs_df(std::string_view text) {
    std::vector<OstState> osts;
    each_line(text, [&](std::string_view line) {
        const auto words = words_of(line);
        if (words.size() >= 3 && (line.find("inactive device") != line.npos)) {
            // OST0003 : inactive device, or scratch-OST0003_UUID : inactive device
            const auto name = without(words[0], "_UUID");
            const auto index = name.starts_with("OST") ? index_in_name("-" + std::string(name)) : index_in_name(name);
            if (index) osts.push_back({.index = *index, .name = std::string(name), .inactive = true});
            return;
        }
        if (words.size() < 6) return;
        const auto place = ost_place(words[5]);
        const auto used = read_amount(words[2]), total = read_amount(words[1]);
        if (!place || !used || !total) return;
        OstState ost{.index = place->index, .name = std::string(without(words[0], "_UUID"))};
        const auto available = read_amount(words[3]);
        const double all = *used + available.value_or(0);
        ost.used_share = all > 0 ? *used / all : 0;
        ost.letters = place->letters;
        for (std::size_t i = 6; i < words.size(); ++i) ost.letters += words[i];
        osts.push_back(std::move(ost));
    });
    return osts;
}

std::optional<QuotaState> read_lfs_quota(std::string_view text) {
    std::optional<QuotaState> state;
    std::vector<std::string_view> words;
    //      Filesystem  kbytes   quota   limit   grace   files   quota   limit   grace
    // A long path has its own line.
    each_line(text, [&](std::string_view line) {
        auto more = words_of(line);
        if (state || more.empty() || more[0] == "Disk" || more[0] == "uid") return;
        if (more[0] == "Filesystem") {
            words.clear();
            return;
        }
        words.insert(words.end(), more.begin(), more.end());
        if (words.size() < 8) return;
        const auto first = words[1].front() == '[' ? words[1].substr(1) : words[1];
        if (first.empty() || first.front() < '0' || first.front() > '9') return;
        state = QuotaState{bytes_of_quota(words[1]), bytes_of_quota(words[2]), bytes_of_quota(words[3]),
                           count_of_quota(words[5]), count_of_quota(words[6]), count_of_quota(words[7])};
    });
    return state;
}

std::optional<PoolState> read_pool_query(std::string_view text) {
    std::optional<PoolState> pool;
    each_line(text, [&](std::string_view line) {
        const auto words = words_of(line);
        if (words.size() >= 2 && words[0] == "Pool" && line.find("ntarget=") != line.npos) {
            pool.emplace();
            pool->targets = counted(line, "ntarget=").value_or(0);
            pool->disabled = counted(line, "disabled=").value_or(0);
            if (const auto at = line.find("state="); at != line.npos)
                pool->state =
                    words_of(line.substr(at + 6)).empty() ? "" : std::string(words_of(line.substr(at + 6))[0]);
            while (!pool->state.empty() && pool->state.back() == ',') pool->state.pop_back();
        }
        if (!pool) return;
        if (const auto total = amount_behind(line, "Total size:"); total && pool->tiers.size() < 8)
            pool->tiers.push_back({.total_bytes = *total});
        if (const auto free = amount_behind(line, "Free:"); free && !pool->tiers.empty()) {
            auto& tier = pool->tiers.back();
            tier.free_bytes = *free;
            tier.least_free_bytes = amount_behind(line, "min:").value_or(0);
            tier.mean_free_bytes = amount_behind(line, "mean:").value_or(0);
        }
        const auto at = std::ranges::find(words, "Rebuild");
        if (at != words.end() && at + 1 != words.end()) {
            pool->rebuild = std::string(at[1]);
            while (!pool->rebuild.empty() && pool->rebuild.back() == ',') pool->rebuild.pop_back();
        }
        if (words.size() > 3 && words[0] == "-" && words[1] == "Pool" && words[2] == "health")
            pool->state = std::string(words.back());
    });
    return pool;
}

std::vector<OstServer> read_ost_servers(std::string_view text) {
    std::vector<OstServer> servers;
    // osc.scratch-OST0007-osc-ffff93af0c638800.ost_conn_uuid=10.0.0.4@o2ib
    each_line(text, [&](std::string_view line) {
        const auto equals = line.find(".ost_conn_uuid=");
        const auto end = line.find("-osc-");
        if (!line.starts_with("osc.") || equals == line.npos || end == line.npos || end < 4) return;
        const auto words = words_of(line.substr(equals + 15));
        if (!words.empty()) servers.push_back({std::string(line.substr(4, end - 4)), std::string(words[0])});
    });
    return servers;
}

}  // namespace forebay::advice
