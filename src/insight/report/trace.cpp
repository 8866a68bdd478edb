#include "insight/report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/path.hpp"
#include "core/base/splitmix.hpp"
#include "core/base/try.hpp"
#include "core/format/timing.hpp"
#include "path/telemetry/chronicle.hpp"
#include "path/telemetry/median.hpp"
#include "path/telemetry/node_timings.hpp"

namespace forebay::report {

namespace {

constexpr std::size_t write_bytes = 4u << 20;  // large writes are fewer

struct Node {
    std::string name;
    std::size_t files = 0;
    double rate = 0;  // median of its drains; 0: it has no drain
};

struct Outlook {
    std::vector<Node> nodes;
    std::uint64_t origin_unix_ns = 0;
    std::uint64_t dropped = 0;
};

class Tracer {
public:
    Tracer(sys::Store& store, const TraceRequest& request, const TraceProgress& progress)
        : store_(store), request_(request), progress_(progress) {}

    Result<TraceReport> write() {
        FB_TRY_ASSIGN(files, telemetry::timing_files(store_, request_.run));
        files_ = std::move(files);
        // Each file is read twice: to choose the nodes, and to write them.
        for (const auto& file : files_) bytes_all_ += 2 * file.bytes;
        const auto outlook = look();
        if (outlook.nodes.empty() || outlook.origin_unix_ns == 0) return nothing();
        report_.nodes_of_run = outlook.nodes.size();
        report_.dropped = outlook.dropped;
        const auto chosen = choose(outlook.nodes);
        const auto unfinished = sys::temporary_beside(request_.to);
        const auto written = write(unfinished, outlook, chosen);
        if (!written) {
            static_cast<void>(store_.remove(unfinished));
            // Only the rename at the end of write() shows the file, so a failure leaves no part of it.
            return written.error();
        }
        FB_TRY(store_.sync_directory(directory_of(request_.to)));
        return std::move(report_);
    }

private:
    bool is_wanted(const format::TimingBatch& batch) const {
        return (request_.session == 0 || batch.session == request_.session) && batch.step >= request_.first_step &&
               batch.step <= request_.last_step;
    }

    // The requested batches of these files, by node: a file written by a neighbour may hold several nodes.
    std::map<std::string, std::vector<format::TimingBatch>> read(std::size_t files, bool with_timings,
                                                                 std::vector<std::string>& problems) {
        std::map<std::string, std::vector<format::TimingBatch>> nodes;
        for (auto& batch : telemetry::read_timings(store_, files_[files], with_timings, problems))
            if (is_wanted(batch)) nodes[telemetry::node_name(batch)].push_back(std::move(batch));
        bytes_done_ += files_[files].bytes;
        progress_(bytes_done_, bytes_all_);
        return nodes;
    }

    Outlook look() {
        Outlook outlook;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            for (const auto& [name, batches] : read(i, true, report_.problems)) {
                std::vector<double> rates;
                for (const auto& batch : batches) {
                    outlook.dropped += batch.dropped;
                    if (batch.drain_seconds > 0)
                        rates.push_back(static_cast<double>(batch.bytes) / batch.drain_seconds);
                }
                const auto first = first_moment(batches);
                if (first == 0) continue;
                if (outlook.origin_unix_ns == 0 || first < outlook.origin_unix_ns) outlook.origin_unix_ns = first;
                outlook.nodes.push_back({name, i, telemetry::median_of(rates)});
            }
        }
        return outlook;
    }

    // Returns indices of nodes. Nodes without a drain come last in speed.
    std::set<std::size_t> choose(const std::vector<Node>& nodes) {
        std::vector<std::size_t> order(nodes.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        // The seed comes from the nodes' names, so the same run gives the same choice.
        for (const auto& node : nodes) report_.seed = crc32c(bytes_of(node.name), report_.seed);
        if (!request_.all) {
            std::ranges::stable_sort(order, {},
                                     [&](std::size_t i) { return std::pair(nodes[i].rate <= 0, nodes[i].rate); });
            const auto slowest = std::min(slowest_nodes, order.size());
            const auto end = std::min(slowest + random_nodes, order.size());
            for (std::size_t i = slowest; i < end; ++i)
                // A partial shuffle: every remaining node is equally likely.
                std::swap(order[i], order[i + splitmix(report_.seed, i) % (order.size() - i)]);
            order.resize(end);
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            auto& names = !request_.all && i < slowest_nodes ? report_.slowest : report_.others;
            names.push_back(nodes[order[i]].name);
        }
        return {order.begin(), order.end()};
    }

    Result<> write(const std::string& path, const Outlook& outlook, const std::set<std::size_t>& chosen) {
        FB_TRY_ASSIGN(file, store_.open(path, sys::Access::create));
        const auto sink = request_.format == TraceFormat::perfetto ? perfetto_sink(outlook.origin_unix_ns)
                                                                   : chrome_sink(outlook.origin_unix_ns);
        std::string out;
        NodeTrace node(*sink, out);
        const auto flush = [&](std::size_t above) -> Result<> {
            if (out.size() <= above) return {};
            FB_TRY(file->write(report_.bytes, bytes_of(out)));
            report_.bytes += out.size();
            out.clear();
            return {};
        };
        sink->head(out);
        std::vector<std::string> texts;  // look() has already reported them
        for (std::size_t files = 0; files < files_.size(); ++files) {
            std::vector<std::size_t> of_these;
            for (const auto index : chosen)
                if (outlook.nodes[index].files == files) of_these.push_back(index);
            // Files without a chosen node are not read again.
            if (of_these.empty()) {
                bytes_done_ += files_[files].bytes;
                continue;
            }
            const auto nodes = read(files, true, texts);
            for (const auto index : of_these) {
                // The run may go on between the two reads; old timings stay, or were moved away.
                const auto match = nodes.find(outlook.nodes[index].name);
                if (match == nodes.end()) continue;
                node.add(++processes_, match->first, match->second);
                FB_TRY(flush(write_bytes));
            }
        }
        sink->tail(out);
        FB_TRY(flush(0));
        report_.counts = node.counts();
        // Synced before the rename: the name never shows a part of the file.
        FB_TRY(file->sync());
        FB_TRY(file->close());
        return store_.rename(path, request_.to);
    }

    Error nothing() const {
        const bool of_steps = request_.first_step > std::numeric_limits<std::int64_t>::min() ||
                              request_.last_step < std::numeric_limits<std::int64_t>::max();
        const auto* const part = request_.session != 0 && of_steps ? " of that session and those steps"
                                 : request_.session != 0           ? " of that session"
                                 : of_steps                        ? " of those steps"
                                                                   : "";
        return {ErrorKind::missing, fmt::format("{} has no timings{}", request_.run, part), "",
                *part != '\0' ? "forebay ls " + request_.run
                              : "agents keep timings of a run after the commit of its first snapshot"};
    }

    sys::Store& store_;
    const TraceRequest& request_;
    const TraceProgress& progress_;
    std::vector<telemetry::NodeFiles> files_;
    std::uint64_t bytes_done_ = 0, bytes_all_ = 0;
    std::uint32_t processes_ = 0;
    TraceReport report_;
};

}  // namespace

Result<TraceReport> write_trace(sys::Store& store, const TraceRequest& request, const TraceProgress& progress) {
    return Tracer(store, request, progress).write();
}

}  // namespace forebay::report
