#include <chrono>
#include <filesystem>
#include <fstream>

#include "forebay/mpi.hpp"
#include "way.hpp"

namespace bench {

namespace {

constexpr std::chrono::minutes commit_max{5};

forebay::Options options_of(const Settings& settings, const std::string& toml) {
    auto options = forebay::load_options(toml);
    if (!options) fail(options.error().text());
    options->run = settings.folder + "/run";
    options->agent.block_bytes = settings.stripe_bytes;
    return *options;
}

template <class T>
T good(forebay::Result<T> result) {
    if (!result) fail(result.error().text());
    return std::move(*result);
}

class ForebayWay final : public Way {
public:
    ForebayWay(MPI_Comm comm, const Settings& settings, Data& data, const std::string& toml)
        : data_(data),
          session_(good(forebay::open(comm, options_of(settings, toml)))),
          stream_(good(session_.stream("dump"))) {
        std::vector<forebay::Column> described;
        for (const auto& column : column_of)
            described.push_back({column.name, column.is_integer ? forebay::i32 : forebay::f32});
        table_ = good(stream_.particles("particles", described));
        std::vector<forebay::ColumnData> places;
        for (std::size_t c = 0; c < columns; ++c) places.emplace_back(data_.column(c).data());
        if (const auto bound = table_->bind(data_.rows(), places); !bound) fail(bound.error().text());
        if (const auto prepared = stream_.prepare(); !prepared) fail(prepared.error().text());
    }
    ~ForebayWay() override {
        if (const auto closed = session_.close(); !closed) fail(closed.error().text());
    }

    void save(int turn) override { good(stream_.save(turn)); }
    void wait_durable() override {
        if (const auto committed = stream_.wait_committed(commit_max); !committed) fail(committed.error().text());
    }
    // The stream keeps one snapshot; its agent removes the one before.
    void remove(int) override {}

private:
    Data& data_;
    forebay::Session session_;
    forebay::Stream stream_;
    std::optional<forebay::Particles> table_;
};

}  // namespace

std::unique_ptr<Way> forebay_way(MPI_Comm comm, const Settings& settings, Data& data, const std::string& toml) {
    return std::make_unique<ForebayWay>(comm, settings, data, toml);
}

MPI_Comm without_agents(MPI_Comm world, const Settings& settings, const std::string& toml) {
    if (toml.empty()) return world;
    return good(forebay::dedicate(world, options_of(settings, toml)));
}

}  // namespace bench
