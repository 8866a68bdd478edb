#include "crash/enumerate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>

#include "crash/session.hpp"

namespace forebay::crash {

namespace {

constexpr std::size_t violations_told = 5;
constexpr int faults_one_in = 12;
constexpr std::int64_t step_max = std::numeric_limits<std::int64_t>::max();
constexpr int second_cut_max = 40;  // operations until the second cut

// The time after one cut of one script.
class Aftermath {
public:
    Aftermath(const World& at_cut, std::string what, std::uint64_t seed, Tally& tally)
        : world_(at_cut), what_(std::move(what)), random_(seed), tally_(tally) {}

    void play(const Ending& ending) {
        end(ending);
        // The next programs may be cut as well, up to twice.
        for (int rounds = static_cast<int>(random_() % 3); rounds > 0; --rounds) {
            world_.cut_before(world_.operations() + static_cast<int>(random_() % second_cut_max));
            next_program();
            if (world_.cut()) end(any_ending());
            else world_.cut_before(-1);
        }
        recover(false);
        world_.take_over();
        judge("after the agents");
        tell("after the agents", world_.lost_from_memory());
        if (random_() % 4 == 0) {
            next_session();
            judge("after another session");
        }
        recover(true);
        world_.prune({.keep = 1});
        judge("after prune");
        tell("errors", world_.errors());
    }

private:
    void end(const Ending& ending) {
        world_.end(ending);
        ++tally_.cuts;
        what_ += ending.kind == Ending::Kind::killed ? ", killed" : fmt::format(", power cut {}", ending.seed);
        judge("after the cut", false);
    }
    Ending any_ending() { return {random_() % 2 == 0 ? Ending::Kind::killed : Ending::Kind::power, random_() % 1000}; }
    void next_program() {
        switch (random_() % 5) {
            case 0: what_ += ", prune"; return world_.prune({.keep = 1});
            case 1: what_ += ", agents"; return world_.take_over();
            case 2: what_ += ", session"; return next_session();
            default: what_ += ", recover"; return world_.recover(false);
        }
    }
    // Restarts from the newest snapshot and saves once more.
    void next_session() {
        auto session = Session::begin(world_);
        session.restart();
        const auto newest = world_.newest(step_max);
        session.commit(newest ? newest->step + 10 : 10);
    }
    void recover(bool stale) {
        world_.recover(stale);
        judge("after recover");
        tell("left behind", world_.leftovers(stale));
        const auto before = world_.contents();
        world_.recover(stale);
        const auto after = world_.contents();
        std::vector<std::string> changed;
        std::ranges::set_symmetric_difference(before, after, std::back_inserter(changed));
        tell("changed by a second recover", changed);
    }
    void judge(const char* when, bool recovered = true) { tell(when, world_.judge(recovered)); }
    void tell(const char* when, const std::vector<std::string>& wrong) {
        for (const auto& text : wrong) {
            ++tally_.violations;
            if (tally_.first.size() < violations_told)
                tally_.first.push_back(fmt::format("{}: {}: {}", what_, when, text));
        }
    }

    World world_;
    std::string what_;
    std::mt19937_64 random_;
    Tally& tally_;
};

}  // namespace

void enumerate(const Script& script, const Programs& programs, std::uint64_t seed, int power_cuts, Tally& tally) {
    const auto play = [&](int cut) {
        auto world = std::make_unique<World>(seed, programs);
        if (cut >= 0) world->cut_before(cut);
        if (script.faults) world->fail_by_seed(seed, faults_one_in);
        script.play(*world);
        return world;
    };
    const int operations = play(-1)->operations();
    for (int cut = 0; cut <= operations && tally.violations < tally.enough; ++cut) {
        const auto at_cut = play(cut);
        for (int ending = 0; ending <= power_cuts; ++ending) {
            std::seed_seq mix{seed, static_cast<std::uint64_t>(cut), static_cast<std::uint64_t>(ending)};
            std::mt19937_64 random(mix);
            Aftermath after(*at_cut, fmt::format("{}, seed {}, cut {}", script.name, seed, cut), random(), tally);
            if (ending == 0) after.play({});
            else after.play({Ending::Kind::power, ending <= 2 ? random() % 4 : random()});
        }
    }
}

}  // namespace forebay::crash
