// The first rank runs the search and sends each trial to all ranks. The results are equal on all ranks. Another program
// may choose the trials instead, by lines of two files.

#include "bench/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bench/job.hpp"
#include "bench/tune_trial.hpp"
#include "core/base/bytes.hpp"
#include "core/base/error_text.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/wait_until.hpp"
#include "core/terminal/print.hpp"
#include "forebay/forebay.h"
#include "insight/advice/tune/foreign.hpp"
#include "insight/advice/tune/gain.hpp"
#include "insight/advice/tune/profile.hpp"
#include "insight/advice/tune/seeds.hpp"
#include "program/own_output.hpp"

namespace forebay::bench {

using advice::Trial, advice::Tuner;

namespace {

constexpr const char* json_keys = "  The profile in --out: docs/formats/advice.md, kind \"profile\".\n";

// Lines of a file that another program writes.
class AskFile {
public:
    AskFile(std::string path, double wait_seconds) : path_(std::move(path)), wait_(wait_seconds) {}

    Result<std::string> next(const sys::EndSignals& signals) {
        const auto limit = sys::Clock::now() + std::chrono::duration_cast<sys::Clock::duration>(wait_);
        const sys::Pauses pauses{std::chrono::milliseconds(5), std::chrono::milliseconds(200)};
        const auto line = sys::wait_until(limit, pauses, [&] { return signals.come() != 0 || find(); });
        if (line && !line_.empty()) return std::exchange(line_, {});
        return Error{ErrorKind::retry, fmt::format("{} got no new line for {} s", path_, wait_.count()), "",
                     "set the time with --ask-wait. The program that chooses trials must add a line for each"};
    }

private:
    // Another process appends to the file. A part up to a newline is complete, and so is a complete JSON object.
    bool find() {
        const auto text = sys::read_text(sys::posix_store(), path_, bytes_max);
        if (!text) return false;
        at_ = std::min(text->find_first_not_of("\n", at_), text->size());
        const auto end = std::min(text->find('\n', at_), text->size());
        auto line = text->substr(at_, end - at_);
        if (line.empty() || (end == text->size() && !advice::is_whole(line))) return false;
        line_ = std::move(line);
        at_ = end;
        return true;
    }
    static constexpr std::uint64_t bytes_max = 16u << 20;

    std::string path_;
    std::chrono::duration<double> wait_;
    std::string line_;
    std::size_t at_ = 0;
};

Result<> append(const std::string& path, const std::string& line) {
    FB_TRY_ASSIGN(file, sys::posix_store().open(path, sys::Access::update));
    FB_TRY_ASSIGN(there, file->size());
    FB_TRY(file->write(there, bytes_of(line)));
    return file->close();
}

}  // namespace

class Tune {
public:
    Tune(Ranks& ranks, const TuneOptions& options, TuneTrials& trials, const std::vector<advice::Choice>& seeds)
        : ranks_(ranks),
          options_(options),
          trials_(trials),
          tuner_(trials.knobs(), seeds, {options.budget, options.seed, options.is_staged() ? 0.95 : 0.75}),
          ask_(options.ask, options.ask_wait_seconds) {}

    Result<> run(const sys::EndSignals& signals) {
        if (is_foreign())
            FB_TRY(of_first([&] { return append(options_.tell, advice::knobs_line(tuner_, options_.budget)); }));
        for (;;) {
            FB_TRY_ASSIGN(trial, next(signals));
            if (!trial) return {};
            FB_TRY_ASSIGN(outcome, trials_.run(*trial));
            // All ranks run the whole search: equal results give equal trials.
            if (is_foreign()) tuner_.record(*trial, outcome);
            else tuner_.tell(outcome);
            show(*trial, outcome);
            if (is_foreign()) FB_TRY(of_first([&] { return append(options_.tell, advice::outcome_line(tuner_)); }));
        }
    }

    Result<> report() {
        const auto best = tuner_.best();
        if (!tuner_.cost_of(best, 1) && !tuner_.cost_of(best, 0.25))
            return Error{ErrorKind::retry, fmt::format("no trial succeeded: {}", last_error()), "",
                         "check that forebay bench drain runs with the same --run and --staging"};
        if (ranks_.rank() != 0) return {};
        auto profile = advice::profile_of(tuner_);
        profile.made_unix_ns = sys::unix_ns();
        profile.made_by = fmt::format("forebay {} on {}", fb_version(), sys::host_name());
        profile.key = telemetry::key_of(trials_.kind());
        profile.lines = lines(best);
        const auto text = format::encode(profile);
        if (!options_.out.empty()) FB_TRY(sys::write_text_durable(sys::posix_store(), options_.out, text));
        if (options_.json) cli::say(cli::Shown{text});
        else print(profile);
        return {};
    }

private:
    bool is_foreign() const { return !options_.ask.empty(); }
    template <class Work>
    Result<> of_first(Work&& work) {
        return ranks_.agree(ranks_.rank() == 0 ? work() : Result<>());
    }

    Result<std::optional<Trial>> next(const sys::EndSignals& signals) {
        if (ranks_.max(signals.come()) > 0) {
            tuner_.stop("interrupted");
            return std::optional<Trial>();
        }
        if (!is_foreign()) return tuner_.ask();
        if (tuner_.spent() >= options_.budget) {
            tuner_.stop("the budget is used");
            return std::optional<Trial>();
        }
        std::string line;
        FB_TRY(of_first([&]() -> Result<> {
            FB_TRY_ASSIGN(asked, ask_.next(signals));
            line = asked;
            return {};
        }));
        FB_TRY_ASSIGN(trial, advice::read_trial(ranks_.broadcast(line), tuner_.knobs()));
        if (!trial) tuner_.stop("the other program has ended it");
        return trial;
    }

    // Prints to standard error: a line for each trial on a terminal, a line a minute in a job's log.
    void show(const Trial& trial, const advice::Outcome& outcome) {
        if (ranks_.rank() != 0) return;
        const auto now = sys::Clock::now();
        if (!sys::is_terminal(sys::Output::error) && now - shown_ < std::chrono::minutes(1)) return;
        shown_ = now;
        std::string changed;
        for (std::size_t knob = 0; knob < tuner_.knobs().size(); ++knob)
            if (const auto& definition = tuner_.knobs()[knob]; trial.choice[knob] != definition.by_default)
                changed += fmt::format(" {}={}", definition.name, definition.values[trial.choice[knob]]);
        std::string end = outcome.error.empty() ? show_seconds(outcome.cost) : outcome.error;
        for (const auto& name : outcome.not_applied) end += fmt::format(", {} was not applied", name);
        cli::note({fmt::format("{:5.2f}/{:g} runs  {:8}  {:3.0f} %  {}  {}\n", tuner_.spent(), options_.budget,
                               advice::name_of(trial.why), trial.share * 100, end,
                               changed.empty() ? " the defaults" : changed)});
    }

    std::string last_error() const {
        for (auto observation = tuner_.observations().rbegin(); observation != tuner_.observations().rend();
             ++observation)
            if (!observation->outcome.error.empty()) return observation->outcome.error;
        return tuner_.observations().empty() ? "none was made" : "no setting was applied unchanged";
    }

    std::vector<std::string> lines(const advice::Choice& best) const {
        auto all = advice::toml_lines(tuner_.knobs(), best);
        const auto setting = advice::setting_of(tuner_.knobs(), best);
        std::string run = options_.runs.empty() ? "RUN" : options_.runs.front(), count, bytes;
        for (const auto& [name, value] : setting) {
            if (name == "run") run = value;
            if (name == "stripe_count") count = value;
            if (name == "stripe_bytes") bytes = value;
        }
        if (!count.empty() && !bytes.empty())
            all.push_back(fmt::format("{}", fmt::join(stripe_command("lfs", trials_.facts(), count, bytes, run), " ")));
        if (options_.runs.size() > 1) all.push_back(fmt::format("run = \"{}\"", run));
        return all;
    }

    void print(const format::Advice& profile) const {
        const auto& kind = trials_.kind();
        const auto number = [&](const char* name) {
            const auto* measure = format::find(profile.measures, name);
            return measure == nullptr ? 0 : measure->value;
        };
        cli::say({fmt::format("forebay tune  {}, {} a node, {}, {} a rank\n",
                              show_count(static_cast<std::uint64_t>(ranks_.size()), "rank"), kind.ranks_per_node,
                              kind.file_system, show_bytes(kind.bytes_per_rank))});
        cli::say({fmt::format(
            "  best        {}  {}\n", show_seconds(number("cost_seconds")),
            options_.is_staged() ? "visible, with the cost of a late drain" : "until a save is committed")});
        const auto gain = advice::gain_of(tuner_);
        if (gain)
            for (const auto& line : advice::gain_lines(*gain)) cli::say({fmt::format("  {}\n", line)});
        cli::say({fmt::format("  save {} a node, drain {} a node\n", show_rate(number("save_rate_bytes_per_second")),
                              show_rate(number("drain_rate_bytes_per_second")))});
        for (const auto& line : advice::explanation(tuner_.worths())) cli::say({fmt::format("  {}\n", line)});
        if (const auto line = gain ? advice::parts_line(*gain, tuner_.worths()) : std::string(); !line.empty())
            cli::say({fmt::format("  {}\n", line)});
        for (const auto& line : advice::not_applied(tuner_)) cli::say({fmt::format("  not applied: {}\n", line)});
        if (!trials_.facts().note.empty()) cli::say({fmt::format("  {}\n", trials_.facts().note)});
        cli::say({fmt::format("  {:.2f} of {:g} runs: {}\n", tuner_.spent(), options_.budget, tuner_.end())});
        if (!options_.out.empty()) cli::say({fmt::format("  wrote {}\n", options_.out)});
        for (const auto& line : profile.lines) cli::say({fmt::format("{}\n", line)});
    }

    Ranks& ranks_;
    const TuneOptions& options_;
    TuneTrials& trials_;
    Tuner tuner_;
    AskFile ask_;
    sys::Clock::time_point shown_ = sys::Clock::now();
};

namespace {

// The rules, and before them the best settings of the last search here or nearby.
Result<std::vector<advice::Choice>> find_seeds(Ranks& ranks, const TuneTrials& trials) {
    std::string last;
    if (ranks.rank() == 0) {
        std::vector<std::string> notes;
        auto profile = telemetry::find_profile(sys::posix_store(), telemetry::profile_directories(),
                                               telemetry::key_of(trials.kind()), notes);
        for (const auto& note : notes)
            cli::note({fmt::format("{}a profile is skipped: {}\n", program_prefix, show_message(note))});
        if (profile) {
            cli::note({fmt::format("{}begins with {}, distance {:.1f}\n", program_prefix, show_text(profile->path),
                                   profile->distance)});
            profile->advice.rows.clear();
            last = format::encode(profile->advice);
        }
    }
    last = ranks.broadcast(last);
    std::vector<advice::Choice> seeds;
    if (!last.empty()) {
        FB_TRY_ASSIGN(profile, format::decode_advice(last, "the last profile"));
        seeds.push_back(advice::choice_of(trials.knobs(), profile.chosen));
    }
    for (auto& seed :
         advice::seeds_of(trials.knobs(), {trials.kind().nodes, trials.facts().count, trials.node_bytes()}))
        seeds.push_back(std::move(seed));
    return seeds;
}

Result<> check(TuneOptions& options) {
    const auto refused = [](std::string what) { return Error{ErrorKind::refused, std::move(what)}; };
    if (options.durable.empty()) options.durable = options.interval_seconds > 0 ? "staged" : "committed";
    if (options.durable != "staged" && options.durable != "committed")
        return refused(fmt::format("--durable is {}: staged or committed.", options.durable));
    if (options.interval_seconds < 0 || (options.is_staged() && options.interval_seconds <= 0))
        return refused("--durable staged needs --interval, the seconds between two saves.");
    if (options.budget < 4)
        return refused(
            fmt::format("--budget must be 4 or more, not {}: the search repeats its best trials.", options.budget));
    if (options.saves < 1) return refused(fmt::format("--saves must be 1 or more, not {}.", options.saves));
    if (options.bytes_per_rank < BenchTable::row_bytes * 4)
        return refused(fmt::format("--bytes-per-rank must be {} or more, not {}.", BenchTable::row_bytes * 4,
                                   options.bytes_per_rank));
    if (options.ask.empty() != options.tell.empty()) return refused("--ask and --tell need each other.");
    return {};
}

// Checked before hours of trials, not after.
Result<> check_out(const TuneOptions& options) {
    if (options.out.empty()) return {};
    auto& store = sys::posix_store();
    if (const auto slash = options.out.rfind('/'); slash != options.out.npos && slash > 0)
        FB_TRY(store.make_directories(options.out.substr(0, slash)));
    const auto is_profile = [](std::string_view text) { return cli::is_advice(text, "profile"); };
    return cli::check_own_output(store, options.out, options.replace, is_profile, "profile of forebay tune");
}

Result<cli::Exit> run(const TuneOptions& given) {
    auto options = given;
    FB_TRY(check(options));
    const sys::EndSignals signals;  // before MPI starts threads
    return in_job(options.bytes_per_rank, [&](Ranks& ranks) -> Result<> {
        FB_TRY(ranks.agree(ranks.rank() == 0 ? check_out(options) : Result<>()));
        FB_TRY_ASSIGN(trials, TuneTrials::make(ranks, options));
        FB_TRY_ASSIGN(seeds, find_seeds(ranks, trials));
        Tune tune(ranks, options, trials, seeds);
        const auto ran = tune.run(signals);
        // Results before an error are still printed and written.
        const auto outcome = ranks.agree(tune.report());
        return ran ? outcome : ran;
    });
}

}  // namespace

void add_tune(cli::CommandLine& line) {
    const auto options = std::make_shared<TuneOptions>();
    auto verb =
        line.verb("tune", "Find the options with the fastest saves on this machine, by trials in one job (with MPI)");
    verb.option("--run", options->runs,
                "Try these directories on the storage ($TMPDIR or /var/tmp). The search finds the best one, and "
                "removes its files");
    verb.option("--staging", options->staging, "Try these directories on the node, likewise (/dev/shm)");
    verb.bytes("--bytes-per-rank", options->bytes_per_rank, "Save so many bytes on each rank in a full trial");
    verb.option("--budget", options->budget,
                "Run so many full trials. A trial with a quarter of the bytes counts as a quarter");
    verb.option("--interval", options->interval_seconds, "Assume so many seconds between two saves of the simulation");
    verb.option("--durable", options->durable,
                "Optimise staged (the cost of a save, if drains take at most 0.7 of the interval; default with "
                "--interval) or committed (the time until the save is safe at the target)");
    verb.option("--saves", options->saves, "Save so many times in a trial");
    verb.option("--compressible", options->compressible, "Also try codecs, on data that shrink about so many times");
    verb.option("--exclude", options->exclude, "Exclude these OSTs: 14,27, or the file of forebay preflight");
    verb.option("--lfs", options->lfs, "Set stripes with this program");
    verb.option("--seed", options->seed, "Repeat a search: the same seed with the same times makes the same trials");
    verb.option("--out", options->out, "Write the profile to this file, as ./.forebay/profile.json");
    verb.flag("--replace", options->replace, "With --out: replace a file that is not a profile");
    verb.option("--ask", options->ask, "Read trials from this file, to which another program adds a line for each");
    verb.option("--tell", options->tell, "Add a line to this file for the result of each trial");
    verb.option("--ask-wait", options->ask_wait_seconds, "Wait so many seconds for a line of --ask");
    verb.json(options->json, json_keys);
    verb.action([options] { return run(*options); });
    verb.examples(
        "  mpiexec -n 2 forebay tune --run /scratch/me --budget 25 --out .forebay/profile.json\n"
        "  srun --mpi=pmix -N 64 forebay tune --run /scratch/me --bytes-per-rank 4280000000 --interval 360\n");
}

}  // namespace forebay::bench
