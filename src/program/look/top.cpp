// forebay top: shows what a run does or did, on the whole terminal, as text, or as JSON.

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/target_store.hpp"
#include "core/sys/thread.hpp"
#include "core/terminal/say.hpp"
#include "path/telemetry/here.hpp"
#include "program/look/screen.hpp"
#include "program/look/top_json.hpp"
#include "program/look/top_text.hpp"
#include "program/look/top_view.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

using std::chrono::milliseconds;

// Reading records of snapshots takes at most this part of the time. Statuses are read at each look.
constexpr int reading_of_time = 20;
// Longest time that a signal waits for the loop.
constexpr milliseconds key_wait{100};
constexpr std::size_t columns_unasked = 100;
constexpr double interval_least = 0.1, interval_most = 3600;

struct TopArguments {
    std::string run;
    double interval = 1;
    std::string sort = "slowest";
    std::string staging = "/dev/shm";
    bool once = false, all = false, json = false;
};

Result<NodeOrder> order_of(const std::string& word) {
    for (const auto order : node_orders)
        if (word == name_of(order)) return order;
    return Error{ErrorKind::refused, fmt::format("--sort must be slowest, backlog, failures or name, not '{}'", word)};
}

/// Reads the run repeatedly on a thread of its own: keys still work if the run's file system hangs.
class TopReader {
public:
    /// `given` in the user's spelling.
    TopReader(std::string given, std::string staging, milliseconds interval) : shared_(std::make_shared<Shared>()) {
        shared_->given = std::move(given);
        shared_->staging = std::move(staging);
        shared_->interval = interval;
    }
    TopReader(const TopReader&) = delete;
    TopReader& operator=(const TopReader&) = delete;
    ~TopReader() {
        if (!thread_.runs()) return;
        std::unique_lock lock(shared_->mutex);
        shared_->leaves = true;
        shared_->wake.notify_all();
        // The thread may hang in a dead mount. Then the program ends without it.
        if (!shared_->wake.wait_for(lock, milliseconds(200), [this] { return shared_->has_left; })) thread_.leave();
    }

    Result<> start() {
        FB_TRY_ASSIGN(thread, sys::Thread::start([shared = shared_] {
                          const auto read = attempt([&] { return shared->keep(); });
                          const std::lock_guard lock(shared->mutex);
                          if (!read) shared->error = read.error();
                          shared->has_left = true;
                          shared->wake.notify_all();
                      }));
        thread_ = std::move(thread);
        return {};
    }

    struct Look {
        telemetry::Chronicle chronicle;
        std::vector<catalog::Snapshot> newest;
    };
    struct News {
        std::optional<Look> look;  // nothing if there is no new one
        double seconds = 0;        // since the newest was read
    };
    Result<News> take() {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->error) return *shared_->error;
        return News{std::exchange(shared_->news, {}),
                    std::chrono::duration<double>(sys::Clock::now() - shared_->read_at).count()};
    }

private:
    struct Shared {
        std::string given, staging;
        milliseconds interval{1000};
        std::mutex mutex;  // guards the members below
        std::condition_variable wake;
        bool leaves = false, has_left = false;
        std::optional<Error> error;
        std::optional<Look> news;
        sys::Clock::time_point read_at = sys::Clock::now();

        Result<> keep();
    };

    std::shared_ptr<Shared> shared_;
    sys::Thread thread_;
};

Result<> TopReader::Shared::keep() {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(match, find_run(store, given));
    FB_TRY_ASSIGN(run, match.whole());
    Look kept;
    auto next_whole = sys::Clock::now();
    for (;;) {
        const auto begin = sys::Clock::now();
        const bool whole = begin >= next_whole;
        FB_TRY_ASSIGN(chronicle,
                      telemetry::read_chronicle(store, run, {.with_timings = false, .statuses_alone = !whole}));
        if (whole) {
            FB_TRY_ASSIGN(newest, newest_snapshots(store, run));
            kept = {std::move(chronicle), std::move(newest)};
        } else {
            kept.chronicle.statuses = std::move(chronicle.statuses);
        }
        telemetry::look_here(kept.chronicle, staging);
        const auto end = sys::Clock::now();
        if (whole) next_whole = end + reading_of_time * (end - begin);
        std::unique_lock lock(mutex);
        news = kept;
        read_at = end;
        if (wake.wait_for(lock, std::max<sys::Clock::duration>(interval, end - begin), [this] { return leaves; }))
            return {};
    }
}

std::string help_line(const TopScreen& screen, double seconds_old, double interval) {
    auto text = fmt::format("q quit  up/down scroll  s sort: {}", name_of(screen.order));
    if (seconds_old > 3 * interval + 1) text += fmt::format("  NOT READ for {:.0f} s", seconds_old);
    return text;
}

void scroll(TopScreen& screen, Key key, std::size_t nodes) {
    const auto page = std::max<std::size_t>(screen.rows / 2, 1);
    auto& first = screen.first_node;
    if (key == Key::up) first -= std::min<std::size_t>(first, 1);
    if (key == Key::down) ++first;
    if (key == Key::page_up) first -= std::min(first, page);
    if (key == Key::page_down) first += page;
    if (key == Key::first) first = 0;
    if (key == Key::last) first = nodes;
    first = std::min(first, nodes - std::min<std::size_t>(nodes, 1));
    if (key != Key::sort) return;
    const auto at = std::ranges::find(node_orders, screen.order) - node_orders.begin();
    screen.order = node_orders[static_cast<std::size_t>(at + 1) % node_orders.size()];
    first = 0;
}

/// Returns the signal that ended it; 0: a key.
Result<int> show_whole_screen(const TopArguments& options, TopScreen screen, const sys::EndSignals& signals) {
    FB_TRY_ASSIGN(run, sys::whole_place(options.run));
    TopReader reader(options.run, options.staging, milliseconds(static_cast<std::int64_t>(options.interval * 1000)));
    FB_TRY_ASSIGN(terminal, Terminal::open());
    FB_TRY(reader.start());
    TopView view{.run = run};
    view.now_unix_ns = sys::unix_ns();
    for (;;) {
        FB_TRY_ASSIGN(news, reader.take());
        if (news.look)
            view = top_view(std::move(news.look->chronicle), sys::unix_ns(), options.all, std::move(news.look->newest));
        screen.columns = terminal->columns();
        screen.rows = terminal->rows();
        auto lines = lines_of(view, screen);
        lines.resize(screen.rows - 1);
        lines.push_back({clipped(help_line(screen, news.seconds, options.interval), screen.columns), TopStyle::head});
        terminal->draw(lines);
        const auto key = terminal->wait(key_wait);
        if (key == Key::quit) return 0;
        if (const int signal = signals.come(); signal != 0) return signal;
        scroll(screen, key, view.nodes_shown.size());
    }
}

Result<Exit> top(const TopArguments& options) {
    if (!(options.interval >= interval_least && options.interval <= interval_most))
        return Error{ErrorKind::refused,
                     fmt::format("--interval must be {} to {} seconds", interval_least, interval_most)};
    TopScreen screen{.help = !options.once};
    FB_TRY_ASSIGN(order, order_of(options.sort));
    screen.order = order;
    if (!options.once && !options.json) {
        const sys::EndSignals signals;
        FB_TRY_ASSIGN(signal, show_whole_screen(options, screen, signals));
        if (signal != 0) sys::EndSignals::end_by(signal);
        return Exit::good;
    }
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(match, find_run(store, options.run));
    FB_TRY_ASSIGN(run, match.whole());
    FB_TRY_ASSIGN(chronicle, telemetry::read_chronicle(store, run, {.with_timings = false}));
    telemetry::look_here(chronicle, options.staging);
    FB_TRY_ASSIGN(newest, newest_snapshots(store, run));
    auto view = top_view(std::move(chronicle), sys::unix_ns(), options.all, std::move(newest));
    sort(view.nodes_shown, order);
    if (options.json) {
        json_of(view).print();
    } else {
        const int columns = sys::terminal_columns();
        screen.columns = columns > 0 ? static_cast<std::size_t>(columns) : columns_unasked;
        std::string text;
        for (const auto& line : lines_of(view, screen)) text += line.text + "\n";
        say(Shown{text});
    }
    return view.summary.problems.empty() ? Exit::good : Exit::found;
}

}  // namespace

void add_top(CommandLine& line) {
    const auto options = std::make_shared<TopArguments>();
    auto verb = line.verb("top", Terminal::is_in_build()
                                     ? "Watch a run in the terminal: streams, nodes, rates, slow parts and reasons"
                                     : "Show a run as text: streams, nodes, rates, slow parts and reasons");
    verb.argument("RUN", options->run, "The directory of the run");
    verb.flag("--once", options->once,
              Terminal::is_in_build() ? "Print one screen as text, and end"
                                      : "Print one screen as text. This build has no full screen");
    verb.option("--interval", options->interval, "Refresh after so many seconds");
    verb.option("--sort", options->sort, "Sort nodes by slowest, backlog, failures or name");
    verb.option("--staging", options->staging, "Look in this directory for staged copies of this node's sessions");
    verb.flag("--all", options->all, "Show nodes of earlier sessions too");
    verb.json(options->json, top_json_keys);
    verb.examples(
        "  forebay top /scratch/me/run7\n  forebay top /scratch/me/run7 --once --sort backlog\nIt works on any host "
        "that sees the run. Keys: q quits, arrows, page keys, home and end scroll the nodes, s changes\ntheir order. "
        "Exit code 1 if a part of the run cannot be read.\n");
    verb.action([options] { return top(*options); });
}

}  // namespace forebay::cli
