#include "support/emulated_storage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "core/base/splitmix.hpp"

namespace forebay::test {

namespace {

// Bytes per second of a disk array behind a target, of a node's link, and of the software of a token.
constexpr double target_rate = 400e6, link_rate = 2.5e9, token_rate = 900e6;
constexpr double write_latency = 0.8e-3, seek = 12e-3, lock = 9e-3, object = 6e-3, commit = 0.05;
constexpr double queue_good = 6, queue_cost = 0.04;  // best queue of a target; what a further write costs
constexpr double cached_copy_rate = 1.6e9;           // rate of the copy into the page cache

struct Words {
    std::string file;
    double block = 0, stripe_bytes = 0;
    std::size_t in_flight = 1, stripes = 1, agents = 1;
    bool direct = true;
};

double part(std::uint64_t number) { return (static_cast<double>(number >> 11) + 0.5) / 9007199254740992.0; }

}  // namespace

EmulatedStorage::EmulatedStorage(const EmulatedSite& site, std::uint64_t seed) : site_(site), seed_(seed) {
    const auto all = std::to_string(site.targets);
    knobs_ = {{"stream.file", {"own", "combined:2", "combined:8", "shared"}, 0, false},
              {"agent.block_bytes", {"1048576", "4194304", "16777216", "67108864"}, 2},
              {"agent.in_flight", {"1", "2", "4", "8", "16"}, 2},
              {"stripe_count", {"1", "2", "4", "12", all}, 0},
              {"stripe_bytes", {"1048576", "4194304", "16777216", "67108864"}, 0},
              {"agent.direct", {"true", "false"}, 0, false},
              {"virtual_nodes", {"1", "2", "4"}, 0}};
}

double EmulatedStorage::seconds(const advice::Choice& choice, double share) const {
    Words words;
    for (std::size_t knob = 0; knob < knobs_.size(); ++knob) {
        const auto& name = knobs_[knob].name;
        const bool ignored = site_.ignores_stripes && name.starts_with("stripe_");
        const auto& value = knobs_[knob].values[ignored ? knobs_[knob].by_default : choice[knob]];
        if (name == "stream.file") words.file = value;
        else if (name == "agent.block_bytes") words.block = std::stod(value);
        else if (name == "agent.in_flight") words.in_flight = std::stoul(value);
        else if (name == "stripe_count") words.stripes = std::stoul(value);
        else if (name == "stripe_bytes") words.stripe_bytes = std::stod(value);
        else if (name == "agent.direct") words.direct = value == "true";
        else words.agents = std::stoul(value);
    }
    const auto writers = static_cast<std::size_t>(site_.nodes) * words.agents;
    const auto together = words.file == "shared"       ? writers
                          : words.file == "combined:2" ? std::size_t{2}
                          : words.file == "combined:8" ? std::size_t{8}
                                                       : std::size_t{1};
    const double bytes = site_.node_bytes * share / static_cast<double>(words.agents);
    // A chunk stands for several writes, so that a trial takes few steps.
    const double chunk = std::max(words.block, bytes / 16);
    const auto chunks = static_cast<std::size_t>(std::ceil(bytes / chunk));
    const double writes = chunk / words.block;
    std::vector<double> target_free(site_.targets), link_free(site_.nodes);
    std::vector<std::size_t> target_file(site_.targets, SIZE_MAX), target_writer(site_.targets, SIZE_MAX);
    const double queue =
        static_cast<double>(writers * words.in_flight) /
        static_cast<double>(std::min(site_.targets, (writers + together - 1) / together * words.stripes));
    const double thrash = 1 + queue_cost * std::max(0.0, queue - queue_good);
    std::vector<std::vector<double>> tokens(writers, std::vector<double>(words.in_flight));
    const double make =
        object * static_cast<double>(words.stripes) * static_cast<double>((writers + together - 1) / together) / 8;
    double end = make;
    for (std::size_t turn = 0; turn < chunks; ++turn)
        for (std::size_t writer = 0; writer < writers; ++writer) {
            const auto file = writer / together;
            const double offset = static_cast<double>(writer % together) * bytes + static_cast<double>(turn) * chunk;
            const auto stripe = static_cast<std::size_t>(offset / words.stripe_bytes);
            // The objects of a file lie on neighbouring targets, and the file number decides the first target.
            const auto target = (file * 5 + stripe % words.stripes) % site_.targets;
            // A write longer than a stripe goes to several targets at once.
            const double wide = std::clamp(words.block / words.stripe_bytes, 1.0, static_cast<double>(words.stripes));
            auto& token = *std::ranges::min_element(tokens[writer]);
            double service = chunk / (target_rate * wide) * thrash;
            if (target_file[target] != file) service += seek;
            if (together > 1 && target_writer[target] != writer)
                service += lock * std::max(1.0, words.stripe_bytes / words.block / 4);
            service += writes * write_latency / (words.direct ? 1 : 3);
            target_file[target] = file;
            target_writer[target] = writer;
            auto& link = link_free[writer / words.agents];
            const double sent = std::max(token, link) + chunk / link_rate;
            link = sent;
            const double begin = std::max(sent, target_free[target]);
            target_free[target] = begin + service;
            token = target_free[target] + chunk / token_rate + writes * write_latency;
            if (!words.direct) token += chunk / cached_copy_rate;
            end = std::max(end, make + token);
        }
    return end + commit + 0.002 * static_cast<double>(writers);
}

advice::Outcome EmulatedStorage::run(const advice::Trial& trial) {
    const auto normal = [&] {
        const double a = part(splitmix(seed_, turn_++)), b = part(splitmix(seed_, turn_++));
        return std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
    };
    const bool is_busy = part(splitmix(seed_, turn_++)) < site_.busy;
    advice::Outcome outcome;
    outcome.cost = seconds(trial.choice, trial.share) * std::exp(site_.noise * normal()) / (is_busy ? 0.45 : 1);
    outcome.reference_seconds = 0.05 * std::exp(0.03 * normal()) / (is_busy ? 0.45 : 1);
    if (site_.ignores_stripes)
        for (std::size_t knob = 0; knob < knobs_.size(); ++knob)
            if (knobs_[knob].name.starts_with("stripe_") && trial.choice[knob] != knobs_[knob].by_default)
                outcome.not_applied.push_back(knobs_[knob].name);
    return outcome;
}

double EmulatedStorage::best_seconds() const {
    double best = std::numeric_limits<double>::infinity();
    advice::Choice choice(knobs_.size());
    for (std::size_t knob = 0; knob < choice.size();) {
        best = std::min(best, seconds(choice, 1));
        for (knob = 0; knob < choice.size() && ++choice[knob] == knobs_[knob].values.size(); ++knob) choice[knob] = 0;
    }
    return best;
}

advice::Tuner search(EmulatedStorage& storage, const std::vector<advice::Choice>& seeds,
                     const advice::TunerOptions& options) {
    advice::Tuner tuner(storage.knobs(), seeds, options);
    while (const auto trial = tuner.ask()) tuner.tell(storage.run(*trial));
    return tuner;
}

}  // namespace forebay::test
