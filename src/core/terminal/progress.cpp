#include "core/terminal/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/base/show_text.hpp"
#include "core/base/units.hpp"
#include "core/sys/machine.hpp"

namespace forebay::cli {

namespace {

constexpr auto redraw_pause = std::chrono::milliseconds(100);
constexpr auto log_pause = std::chrono::minutes(1);
constexpr std::uint64_t bar_cells = 24;
// The work for an entry beside its bytes, as bytes: 50 us at 2.5 GB/s. For any weight, complete work is 100 %.
constexpr double entry_weight = 128u << 10;
constexpr const char* erase_line = "\r\x1b[K";

}  // namespace

Progress::Progress(const std::string& label, bool quiet)
    : label_(show_text(label)),
      on_(!quiet || std::getenv("FOREBAY_PROGRESS") != nullptr),
      on_terminal_(sys::is_terminal(sys::Output::error)) {}

Progress::~Progress() {
    if (drawn_) std::fputs(erase_line, stderr);
}

std::string Progress::line(const std::string& label, std::uint64_t bytes_done, std::uint64_t bytes_all,
                           double seconds) {
    const auto share = bytes_all == 0 ? 1.0 : static_cast<double>(bytes_done) / static_cast<double>(bytes_all);
    const auto cells = std::min(bar_cells, static_cast<std::uint64_t>(share * static_cast<double>(bar_cells)));
    const auto rate = seconds > 0 ? static_cast<double>(bytes_done) / seconds : 0;
    auto text =
        fmt::format("{} [{}{}] {:3.0f} %  {} of {}", label, std::string(cells, '#'),
                    std::string(bar_cells - cells, '.'), share * 100, show_bytes(bytes_done), show_bytes(bytes_all));
    if (rate > 0)
        text += fmt::format("  {}  {} left", show_rate(rate),
                            show_seconds(static_cast<double>(bytes_all - std::min(bytes_all, bytes_done)) / rate));
    return text;
}

bool Progress::is_due() {
    const auto now = sys::Clock::now();
    if (!on_ || (on_terminal_ ? now - last_ < redraw_pause : now - last_ < log_pause)) return false;
    last_ = now;
    return true;
}

void Progress::draw(const std::string& text) {
    drawn_ = on_terminal_;
    std::fputs((on_terminal_ ? erase_line + text : text + "\n").c_str(), stderr);
}

void Progress::show(std::uint64_t bytes_done, std::uint64_t bytes_all) {
    if (!is_due()) return;
    const std::chrono::duration<double> seconds = last_ - start_;
    draw(line(label_, bytes_done, bytes_all, seconds.count()));
}

void Progress::show_count(std::uint64_t done, std::uint64_t all) {
    if (is_due()) draw(fmt::format("{}: {} of {}", label_, done, all));
}

std::string Progress::flow_line(const std::string& label, const TreeFlow& flow, double seconds) {
    auto text = fmt::format("{}: {}", label, forebay::show_count(flow.entries, "entry"));
    if (flow.bytes > 0 && seconds > 0)
        text += fmt::format(", {}, {}", show_bytes(flow.bytes), show_rate(static_cast<double>(flow.bytes) / seconds));
    if (flow.all_entries == 0 && flow.all_bytes == 0) return text;
    const auto work = [](std::uint64_t entries, std::uint64_t bytes) {
        return static_cast<double>(entries) * entry_weight + static_cast<double>(bytes);
    };
    // A source that grows has more than was counted.
    const auto share = work(std::min(flow.entries, flow.all_entries), std::min(flow.passed_bytes, flow.all_bytes)) /
                       work(flow.all_entries, flow.all_bytes);
    text += fmt::format(", {:.0f} % of", share * 100);
    if (flow.all_entries > 0) text += " " + forebay::show_count(flow.all_entries, "entry");
    if (flow.all_bytes > 0)
        text += fmt::format("{} {}", flow.all_entries > 0 ? " and" : "", show_bytes(flow.all_bytes));
    constexpr double least_share = 0.01;  // a smaller share says nothing about the rest
    if (share >= least_share) text += fmt::format(", about {} left", show_seconds(seconds * (1 - share) / share));
    return text;
}

void Progress::show_flow(const TreeFlow& flow) {
    if (!is_due()) return;
    const std::chrono::duration<double> seconds = last_ - start_;
    draw(flow_line(label_, flow, seconds.count()));
}

}  // namespace forebay::cli
