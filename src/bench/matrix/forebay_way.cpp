// Forebay: a dump is a save, and a read is a restart.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/matrix/way.hpp"
#include "core/base/try.hpp"
#include "core/sys/store.hpp"
#include "forebay/mpi.hpp"

namespace forebay::bench {

using sys::Clock;

namespace {

constexpr std::chrono::minutes commit_max{10};
constexpr const char* stream_name = "dump";
constexpr const char* table_name = "particles";

class ForebayWay final : public Way {
public:
    explicit ForebayWay(const RowContext& row) : row_(row) {}

    Result<> prepare(const std::vector<RowSpan>& own, int dump) override {
        if (session_) return bind(own, dump);
        FB_TRY_ASSIGN(session, forebay::open(row_.ranks.comm(), options()));
        session_.emplace(std::move(session));
        FB_TRY_ASSIGN(stream, session_->stream(stream_name, stream_options()));
        stream_.emplace(std::move(stream));
        FB_TRY(describe(*stream_, table_, own, dump));
        return stream_->prepare();
    }

    Result<Times> write(const std::vector<Located>& pieces, int dump) override {
        Times times;
        times.begin = times.opened = Clock::now();
        FB_TRY(stream_->save(dump));
        times.moved = Clock::now();
        // Synced means committed. If computing follows, the agent commits meanwhile.
        if (row_.setting.durable != Durable::none && row_.setting.compute_seconds == 0)
            FB_TRY(stream_->wait_committed(commit_max));
        times.closed = Clock::now();
        for (const auto& piece : pieces) times.bytes += piece.bytes;
        return times;
    }

    Result<double> settle() override {
        if (!stream_) return 0.0;
        FB_TRY(stream_->wait_committed(commit_max));
        const auto all = stream_->counters().drain_seconds;
        return all - std::exchange(drained_seconds_, all);
    }

    Result<> finish() override {
        if (!session_) return {};
        stream_.reset();
        const auto closed = session_->close();
        session_.reset();
        return closed;
    }

    Result<Times> read(Ranks& readers, ReadMemory& memory, int dump, bool own) override {
        Times times;
        times.begin = Clock::now();
        FB_TRY_ASSIGN(session, forebay::open(readers.comm(), options()));
        FB_TRY_ASSIGN(stream, session.stream(stream_name, stream_options()));
        std::optional<Particles> table;
        if (dump < 0) dump = row_.setting.dumps - 1;
        FB_TRY(describe(stream, table, memory.segments(), dump));
        FB_TRY_ASSIGN(restart, stream.newest());
        if (!restart) return Error{ErrorKind::missing, fmt::format("{}: there is no snapshot to read", row_.directory)};
        newest_ = static_cast<int>(restart->step());
        times.opened = Clock::now();
        // Forebay shares out a table's rows. The memory for them is not timed.
        memory = row_.content.is_table() ? share(readers, *restart, *table)
                 : own                   ? ReadMemory::of_own(row_.content, readers.rank(), newest_)
                                         : ReadMemory::of_share(row_.content, readers.rank(), readers.size(), newest_);
        FB_TRY(bind_to(stream, table, memory.segments(), newest_));
        const auto went = Clock::now() - times.opened;
        times.begin += went;
        times.opened += went;
        FB_TRY(restart->read());
        times.moved = times.closed = Clock::now();
        times.bytes = memory.bytes();
        FB_TRY(session.close());
        return times;
    }

    int newest() const override { return newest_; }

    Result<> forget(int) override { return forget_below(row_.directory); }
    // The stream keeps two snapshots. Its agent removes the snapshot before.
    Result<> remove(int) override { return {}; }

private:
    static Result<> forget_below(const std::string& directory) {
        FB_TRY_ASSIGN(entries, sys::posix_store().list(directory));
        for (const auto& entry : entries)
            FB_TRY(entry.is_directory ? forget_below(directory + "/" + entry.name)
                                      : sys::forget_cached(directory + "/" + entry.name));
        return {};
    }

    Options options() const {
        Options options{.run = row_.directory, .staging = row_.staging};
        options.virtual_nodes = std::max(1, row_.nodes / row_.machines);
        options.agent.mode = row_.setting.agent;
        options.agent.linger = std::chrono::seconds(5);
        options.agent.block_bytes = std::max<std::uint64_t>(4096, row_.setting.xfer_bytes / 4096 * 4096);
        return options;
    }

    StreamOptions stream_options() const {
        StreamOptions options{.slots = row_.setting.slots, .keep = 2, .view = false};
        if (row_.setting.layout == FileLayout::shared) options.file = TargetFile::shared();
        const int nodes_a_file = (row_.nodes + row_.setting.groups - 1) / row_.setting.groups;
        if (row_.setting.layout == FileLayout::groups && nodes_a_file > 1)
            options.file = TargetFile::combined(nodes_a_file);
        return options;
    }

    Box box_of(const RowSpan& first, std::uint64_t rows, int dump) const {
        const auto& variable = row_.content.variables()[first.variable];
        Box box;
        box.lo.push_back(row_.content.rows_before(first.variable, first.owner, dump) + first.row);
        box.size.push_back(rows);
        for (const auto extent : variable.inner) {
            box.lo.push_back(0);
            box.size.push_back(extent);
        }
        return box;
    }

    // Segments of one variable follow one another, in memory too.
    std::vector<Piece> pieces_of(std::size_t variable, const std::vector<RowSpan>& segments, int dump) const {
        const RowSpan* first = nullptr;
        std::uint64_t rows = 0;
        for (const auto& segment : segments) {
            if (segment.variable != variable || segment.rows == 0) continue;
            if (first == nullptr) first = &segment;
            rows += segment.rows;
        }
        if (first == nullptr) return {};
        return {packed(box_of(*first, rows, dump), row_.content.variables()[variable].type, first->data)};
    }

    Result<> describe(Stream& stream, std::optional<Particles>& table, const std::vector<RowSpan>& own, int dump) {
        const auto& variables = row_.content.variables();
        if (row_.content.is_table()) {
            std::vector<Column> columns;
            for (const auto& variable : variables) columns.push_back({variable.name, variable.type});
            FB_TRY_ASSIGN(described, stream.particles(table_name, columns));
            table.emplace(std::move(described));
            return bind_to(stream, table, own, dump);
        }
        scalars_.assign(variables.size(), 0);
        for (std::size_t v = 0; v < variables.size(); ++v) {
            if (variables[v].scalar) {
                FB_TRY(stream.replicated(variables[v].name, variables[v].type, {}, scalar_of(v, own), {},
                                         Replicated::first_rank));
                continue;
            }
            Extents shape{variables[v].rows};
            for (const auto extent : variables[v].inner) shape.push_back(extent);
            FB_TRY(stream.array(variables[v].name, variables[v].type, shape, pieces_of(v, own, dump)));
        }
        return {};
    }

    // Rank 0 has the value. Other ranks give a dummy place.
    void* scalar_of(std::size_t variable, const std::vector<RowSpan>& segments) {
        for (const auto& segment : segments)
            if (segment.variable == variable && segment.rows > 0) return segment.data;
        return &scalars_[variable];
    }

    Result<> bind(const std::vector<RowSpan>& own, int dump) { return bind_to(*stream_, table_, own, dump); }

    Result<> bind_to(Stream& stream, std::optional<Particles>& table, const std::vector<RowSpan>& segments, int dump) {
        const auto& variables = row_.content.variables();
        if (table) {
            std::vector<ColumnData> places(variables.size());
            std::vector<std::uint64_t> rows(variables.size(), 0);
            for (const auto& segment : segments) {
                if (rows[segment.variable] == 0)
                    places[segment.variable] = {segment.data, static_cast<std::int64_t>(segment.stride_bytes)};
                rows[segment.variable] += segment.rows;
            }
            return table->bind(rows.front(), std::move(places));
        }
        for (std::size_t v = 0; v < variables.size(); ++v)
            if (variables[v].scalar) FB_TRY(stream.rebind(variables[v].name, scalar_of(v, segments)));
            else FB_TRY(stream.rebind(variables[v].name, pieces_of(v, segments, dump)));
        return {};
    }

    ReadMemory share(Ranks& readers, const Restart& restart, const Particles& table) const {
        const auto rows = restart.rows(table);
        std::vector<std::uint64_t> all(static_cast<std::size_t>(readers.size()));
        readers.group().gather_all(std::as_bytes(std::span(&rows, 1)), std::as_writable_bytes(std::span(all)));
        std::uint64_t first = 0;
        for (int rank = 0; rank < readers.rank(); ++rank) first += all[static_cast<std::size_t>(rank)];
        return ReadMemory::of_rows(row_.content, first, rows, newest_);
    }

    RowContext row_;
    std::optional<Session> session_;
    std::optional<Stream> stream_;
    std::optional<Particles> table_;
    std::vector<std::uint64_t> scalars_;
    double drained_seconds_ = 0;
    int newest_ = -1;
};

}  // namespace

std::unique_ptr<Way> forebay_way(const RowContext& row) { return std::make_unique<ForebayWay>(row); }

}  // namespace forebay::bench
