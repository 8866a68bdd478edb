// The emulated storage as a program, for searchers in other languages.
//
//   tune_emulator search NOISE BUSY SEED BUDGET ROWS     our search; ROWS: rules, or none but the defaults
//   tune_emulator serve NOISE BUSY SEED                  trials as lines on standard input, as --ask has them; the
//                                                        first line printed tells the knobs, each other one an outcome
//
// Every outcome, and what search prints, has "score": the best setting's true seconds / this one's, which a searcher
// must not look at before its end.

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "insight/advice/tune/foreign.hpp"
#include "insight/advice/tune/seeds.hpp"
#include "support/emulated_storage.hpp"

using namespace forebay;

namespace {

constexpr double no_limit = 1e9;

int serve(test::EmulatedStorage& storage, double best) {
    advice::Tuner tuner(storage.knobs(), {}, {.budget = no_limit});
    fmt::print("{}", advice::knobs_line(tuner, no_limit));
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
        const auto trial = advice::read_trial(line, storage.knobs());
        if (!trial) return fmt::print(stderr, "{}\n", trial.error().what), 2;
        if (!*trial) break;
        tuner.record(**trial, storage.run(**trial));
        auto outcome_text = advice::outcome_line(tuner);
        outcome_text.replace(outcome_text.rfind('}'), 2,
                             fmt::format(",\"score\":{}}}\n", best / storage.seconds((*trial)->choice, 1)));
        fmt::print("{}", outcome_text);
        std::fflush(stdout);
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.size() < 4) return fmt::print(stderr, "tune_emulator search|serve NOISE BUSY SEED [BUDGET ROWS]\n"), 2;
    const test::EmulatedSite site{.noise = std::stod(words[1]), .busy = std::stod(words[2])};
    const auto seed = std::stoull(words[3]);
    test::EmulatedStorage storage(site, seed);
    const double best = storage.best_seconds();
    if (words[0] == "serve") return serve(storage, best);
    if (words.size() < 6) return fmt::print(stderr, "search needs BUDGET and ROWS\n"), 2;
    const auto rows =
        words[5] == "rules"
            ? advice::seeds_of(storage.knobs(),
                               {.nodes = site.nodes, .targets = site.targets, .node_bytes = 2'000'000'000})
            : std::vector<advice::Choice>();
    const auto tuner = test::search(storage, rows, {.budget = std::stod(words[4]), .seed = seed});
    fmt::print("{{\"score\":{},\"spent\":{},\"end\":\"{}\"}}\n", best / storage.seconds(tuner.best(), 1), tuner.spent(),
               tuner.end());
    return 0;
}
