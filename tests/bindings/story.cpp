// The story of story.md, in C++.

#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

#include "forebay/mpi.hpp"

using namespace forebay;

namespace {

constexpr int rows = 12, columns = 10, parts = 3;
int rank, ranks;
MPI_Comm world;  // the ranks that compute

struct State {
    int first = rows * rank / ranks;
    int count = rows * (rank + 1) / ranks - first;  // rows of the arrays
    std::vector<double> density = std::vector<double>(static_cast<std::size_t>((count + 2) * (columns + 2)));
    std::vector<float> velocity = std::vector<float>(static_cast<std::size_t>(parts * count * columns));
    std::vector<std::int32_t> mask = std::vector<std::int32_t>(static_cast<std::size_t>(count));
    double dt = 0;
    std::vector<std::int64_t> id;
    std::vector<double> x;

    double& density_at(int row, int column) {
        return density[static_cast<std::size_t>((row + 1) * (columns + 2) + column + 1)];
    }
    float& velocity_at(int part, int row, int column) {
        return velocity[static_cast<std::size_t>((part * count + row) * columns + column)];
    }
    void resize(std::uint64_t particles) {
        id.resize(particles);
        x.resize(particles);
    }
    Result<> bind(Particles& gas) { return gas.bind(id.size(), {id.data(), x.data()}); }
};

void fill(State& state, std::int64_t step) {
    state.dt = 0.125;
    for (int row = 0; row < state.count; ++row) {
        const int global = state.first + row;
        state.mask[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(global * global + step);
        for (int column = 0; column < columns; ++column) {
            state.density_at(row, column) = 100 * global + column + 0.25 * static_cast<double>(step);
            for (int part = 0; part < parts; ++part)
                state.velocity_at(part, row, column) = static_cast<float>(1000 * part + 10 * global + column);
        }
    }
    state.resize(rank % 2 == 1 ? 0 : 4 + static_cast<std::uint64_t>(rank));
    for (std::size_t i = 0; i < state.id.size(); ++i) {
        state.id[i] = 100 * rank + static_cast<std::int64_t>(i);
        state.x[i] = 0.5 * static_cast<double>(state.id[i]);
    }
}

// Describes the state; `wrong` selects a wrong description, "" none.
Particles describe(State& state, Stream& stream, const std::string& wrong) {
    const auto count = static_cast<std::uint64_t>(state.count), first = static_cast<std::uint64_t>(state.first);
    const bool other_shape = wrong == "shape";
    stream.replicated("clock/dt", &state.dt, {}, wrong == "owns" ? Replicated::first_rank : Replicated::equal).value();
    stream
        .array("fields/density", f64, {other_shape ? rows + 1u : rows, columns},
               {with_halo({{first, 0}, {count, columns}}, {1, 1}, state.density.data())},
               {.unit = "kg m-3", .description = "gas density", .dimensions = {"y", "x"}},
               other_shape ? Coverage::partial : Coverage::full)
        .value();
    stream
        .array("fields/velocity", f32, {parts, rows, columns},
               {packed({{0, first, 0}, {parts, count, columns}}, state.velocity.data())})
        .value();
    const auto mask_type = wrong == "type" ? f32 : i32;
    const bool is_plane = wrong == "rank";
    const Box line{{first}, {count}}, plane{{first, 0}, {count, 1}};
    stream
        .array(wrong == "missing" ? "maske" : "mask", mask_type, is_plane ? Extents{rows, 1} : Extents{rows},
               {packed(is_plane ? plane : line, mask_type, state.mask.data())})
        .value();
    return stream.particles("gas", {{"id", i64}, {"x", f64}}).value();
}

void save(State& state, Stream& stream, Particles& gas, std::int64_t step) {
    fill(state, step);
    state.bind(gas).value();
    const auto saved = stream.save(step, 0.5 * static_cast<double>(step)).value();
    if (rank == 0)
        std::printf("saved step %lld, %s\n", static_cast<long long>(saved.step), saved.kept ? "kept" : "skipped");
}

void restart(State& state, Stream& stream, Particles& gas) {
    auto restart = stream.newest().value();
    state.resize(restart->rows(gas));
    state.bind(gas).value();
    restart->read().value();
    double local[5] = {}, sums[5] = {};
    for (int row = 0; row < state.count; ++row) {
        local[2] += state.mask[static_cast<std::size_t>(row)];
        for (int column = 0; column < columns; ++column) {
            local[0] += state.density_at(row, column);
            for (int part = 0; part < parts; ++part)
                local[1] += static_cast<double>(state.velocity_at(part, row, column));
        }
    }
    for (std::size_t i = 0; i < state.id.size(); ++i) {
        local[3] += static_cast<double>(state.id[i]);
        local[4] += state.x[i];
    }
    MPI_Reduce(local, sums, 5, MPI_DOUBLE, MPI_SUM, 0, world);
    const auto own_rows = static_cast<std::int64_t>(state.id.size());
    std::vector<std::int64_t> all(static_cast<std::size_t>(ranks));
    MPI_Gather(&own_rows, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, 0, world);
    if (rank != 0) return;
    std::printf("restart from step %lld, time %.2f, %s ranks, dt %.3f\n", static_cast<long long>(restart->step()),
                restart->time(), restart->same_ranks() ? "the same" : "other", state.dt);
    std::printf("density %.2f velocity %.0f mask %.0f id %.0f x %.1f\n", sums[0], sums[1], sums[2], sums[3], sums[4]);
    for (int i = 0; i < ranks; ++i)
        std::printf("rank %d has %lld particles\n", i, static_cast<long long>(all[static_cast<std::size_t>(i)]));
}

// A mistake gives the error of the first call that notices.
void mistake(State& state, Session& session, Stream& stream, const std::string& wrong) {
    auto gas = describe(state, stream, wrong);
    if (wrong == "closed") {
        state.bind(gas).value();
        session.close().value();
        stream.save(9).value();
        return;
    }
    if (wrong == "options") {
        session.stream("other", {.slots = 1 + rank}).value();
        return;
    }
    if (wrong == "differs" || wrong == "owns" || wrong == "steps") {
        state.dt = wrong == "steps" ? 0.125 : 0.125 * (1 + rank);
        state.bind(gas).value();
        stream.save(wrong == "steps" ? 9 + rank : 9).value();
        return;
    }
    auto restart = stream.newest().value();
    state.resize(restart->rows(gas));
    state.bind(gas).value();
    restart->read().value();
}

void say(const Result<>& outcome) {
    if (rank == 0 && outcome) std::puts("ok: ");
    if (rank == 0 && !outcome) std::printf("%s: %s\n", name_of(outcome.error().kind), outcome.error().text().c_str());
}

// Compression and file form; then options that are refused.
void forms(State& state, Session& session) {
    const std::vector<std::pair<std::string, StreamOptions>> streams{
        {"packed", {.compression = {.codec = Codec::zstd, .level = 5}}},
        {"one", {.keep = 2, .file = TargetFile::shared()}}};
    std::vector<Stream> open;
    for (const auto& [name, options] : streams) {
        auto stream = session.stream(name, options).value();
        auto gas = describe(state, stream, "");
        save(state, stream, gas, 3);
        stream.wait_committed(std::chrono::seconds(60)).value();
        open.push_back(stream);
    }
    const auto again = session.stream("packed", {.compression = {.codec = Codec::lz4}});
    say(again ? Result<>() : again.error());
    const auto cut = session.stream("cut", {.insitu = {{.name = "a",
                                                        .kind = Analysis::Kind::density,
                                                        .variables = {"gas/x"},
                                                        .every = 2,
                                                        .low = 0.5,
                                                        .high = 4,
                                                        .factor = 2,
                                                        .length = {1, 2.5, 1},
                                                        .picture = false}}});
    say(cut ? Result<>() : cut.error());
    session.close().value();
}

// An analysis finds a fulfilled condition, and all ranks receive it at the end of a step.
void told(State& state, Session& session) {
    using Action = Analysis::Action;
    auto stream = session
                      .stream("looked", {.insitu = {{.name = "numbers",
                                                     .variables = {"mask"},
                                                     .condition = {"*/count > 11.5"},
                                                     .action = {Action::save, Action::mark}}}})
                      .value();
    auto gas = describe(state, stream, "");
    save(state, stream, gas, 3);
    stream.wait_committed(std::chrono::seconds(60)).value();
    Job job;
    while (job.condition.empty()) job = session.job().value();
    if (rank == ranks - 1)
        std::printf("save %d, stop %d, value %.1f, step %lld: %s\n%s\n", job.save ? 1 : 0, job.stop ? 1 : 0, job.value,
                    static_cast<long long>(job.condition_step), job.condition.c_str(), job.reason.c_str());
    session.close().value();
}

void tell(const std::string& act, const Result<Options>& options) {
    auto opened = open(world, options);
    if (!opened) return say(opened.error());
    auto session = std::move(*opened);
    auto stream = session.stream("restart", {.slots = 2}).value();
    State state;
    if (act == "forms") return forms(state, session);
    if (act == "told") return told(state, session);
    if (act != "save" && act != "restart") {
        try {
            mistake(state, session, stream, act);
            return say({});
        } catch (const Exception& thrown) {
            return say(thrown.error());
        }
    }
    auto gas = describe(state, stream, "");
    if (act == "save") {
        save(state, stream, gas, 3);
        save(state, stream, gas, 7);
        stream.wait_committed(std::chrono::seconds(60)).value();
    } else {
        restart(state, stream, gas);
    }
    session.close().value();
}

}  // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    if (count != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    try {
        auto options = load_options(arguments[4]).value();
        options.run = arguments[2];
        options.staging = arguments[3];
        world = dedicate(MPI_COMM_WORLD, options).value();
        if (world == MPI_COMM_NULL) return MPI_Finalize();
        MPI_Comm_rank(world, &rank);
        MPI_Comm_size(world, &ranks);
        const std::string act = arguments[1];
        if (act == "file" && rank == ranks - 1) tell(act, load_options("nowhere.toml"));
        else tell(act, options);
        MPI_Comm_free(&world);
    } catch (const std::exception& thrown) {
        std::fprintf(stderr, "%s\n", thrown.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
