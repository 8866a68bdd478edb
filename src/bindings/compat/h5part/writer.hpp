// An H5Part file being written: each step is a snapshot of a session whose run lies beside the file.
//
// Columns come one by one. The first step keeps copies of them until it ends, since a table's columns must be known
// before the slot is laid out. Later steps with the same columns are written directly into the slot. If a step turns
// out different, its data are copied out of the slot and saved like a first step.
//
// Ranks: set_particles(), end_step(), close() and the first write() of a step are collective, and so is every call that
//        may end a step.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bindings/api/behind.hpp"
#include "bindings/compat/h5part/attribute.hpp"
#include "bindings/compat/h5part/reader.hpp"

namespace forebay::h5part {

using behind::SessionRanks;

/// The rows of all ranks, in the order of the ranks.
struct Share {
    std::int64_t first = 0;  // the first row of this rank
    std::int64_t all = 0;    // the number of rows of all ranks
};
/// `refused` if a rank has less than 0. Collective.
Result<Share> share_of(comm::Group& world, std::int64_t rows);

class StepWriter {
public:
    /// Opens the session over `ranks` with `options`, whose run exists and is empty. `appends`: the file beside the run
    /// keeps its steps. Collective.
    static Result<std::unique_ptr<StepWriter>> open(const SessionRanks& ranks, const Options& options, bool appends);

    /// Sets the step. Ends the step before, unless it is the same step. The new step is set even if that fails: the
    /// failed step is then forgotten. `number` is not negative; `stored` are the step's datasets in the file.
    /// Collective.
    Result<> set_step(std::int64_t number, const std::string& group, const std::vector<DatasetInfo>& stored);
    /// Sets this rank's number of rows. They follow the rows of the ranks before it. Returns the first row. Collective.
    Result<std::int64_t> set_particles(std::int64_t rows);
    bool has_particles() const { return rows_ >= 0; }
    std::int64_t all_particles() const { return all_rows_; }
    /// Writes the rows of the view, which must be this rank's. Rows that are never written are 0. An error on any rank
    /// keeps the step out of the file.
    Result<> write(const std::string& name, Type type, const void* data, const RowsView& view);

    /// Adds a new attribute: H5Part writes each once. Without a group it is an attribute of the file.
    void put_attribute(const std::string& group, H5PartAttribute attribute);
    /// In the order of put_attribute(), which is the order in the file.
    const std::vector<H5PartAttribute>& attributes(const std::string& group) const;
    const H5PartAttribute* attribute(const std::string& group, const std::string& name) const;
    /// The datasets of a step, by name: written now, or stored in the file before.
    std::vector<DatasetInfo> datasets(const std::string& group) const;
    const std::set<std::string>& groups() const { return groups_; }

    /// Ends the last step. With `always` a file without steps is made too. Returns the number of snapshots. Collective.
    Result<std::int64_t> close(bool always);
    Session& session() { return session_; }
    /// True if this node's agent has committed all snapshots. Local.
    bool committed() const;
    std::int64_t saved() const { return snapshots_; }

private:
    struct Column {
        std::string name;
        Type type;
        friend bool operator==(const Column&, const Column&) = default;
    };
    struct Value {
        std::string name;
        Type type;
        std::uint64_t count = 1;
        bool scalar = false;
        std::vector<std::byte> bytes;
        bool fits(const Value& other) const {
            return name == other.name && type == other.type && count == other.count && scalar == other.scalar;
        }
    };
    using Values = std::vector<Value>;
    using Attributes = std::vector<H5PartAttribute>;
    // A stream: one set of columns, each step once.
    struct Series {
        Stream stream;
        std::optional<Particles> table;
        std::vector<Column> columns;
        std::set<std::int64_t> steps;
        Values values;  // as described; the stream holds their addresses
    };
    // The facts about a step's group before this snapshot of it.
    struct Before {
        bool was_there = false;
        std::map<std::string, DatasetInfo> datasets;
        Attributes attributes;
    };
    struct Step {
        std::int64_t number = -1;
        std::string group;
        std::vector<Column> columns;
        std::vector<std::vector<std::byte>> copies;  // of columns that are not in the slot
        Series* series = nullptr;
        std::optional<DirectSave> direct;
        Attributes attributes;
        std::int64_t rows = 0;
        Before before = {};
        Result<> broken = {};  // the first error: the step is not saved
    };

    StepWriter(const SessionRanks& ranks, Session session, StreamOptions options, bool appends)
        : ranks_(ranks), session_(std::move(session)), options_(std::move(options)), appends_(appends) {}

    Result<> begin_directly(const Column& first);
    Result<> leave_slot();
    Result<std::byte*> place_of(const Column& column);
    bool has_rows(const RowsView& view) const;
    Result<> end_step();
    void forget_step();
    Result<> save_step(Step& step);
    Values values_of(const Step& step) const;
    static bool knows(const Series& series, const Values& values);
    Result<> describe(Series& series, Values values);
    Result<Series*> series_for(const Step& step);

    SessionRanks ranks_;
    Session session_;
    StreamOptions options_;
    bool appends_;
    std::vector<std::unique_ptr<Series>> series_;
    Series* last_ = nullptr;
    std::optional<Step> step_;
    std::int64_t rows_ = -1, first_row_ = 0, all_rows_ = 0;
    std::int64_t snapshots_ = 0;
    std::set<std::string> groups_;
    std::map<std::string, std::map<std::string, DatasetInfo>> written_;
    std::map<std::string, Attributes> attributes_;  // by group; "" for the file's
};

}  // namespace forebay::h5part
