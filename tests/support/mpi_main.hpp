// The main() of an MPI test: every rank runs every case. Define DOCTEST_CONFIG_IMPLEMENT, include doctest, then this
// header.

#pragma once

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <functional>

namespace forebay::test {

/// Runs collective code. REQUIRE of doctest and Result::value throw. The remaining ranks would then wait forever, so an
/// exception here ends all ranks.
inline void together(const std::function<void()>& body) {
    const auto end_all = [](const char* text) {
        std::fprintf(stderr, "a rank leaves the test: %s\n", text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    };
    try {
        body();
    } catch (const std::exception& thrown) {
        end_all(thrown.what());
    } catch (...) {
        end_all("a requirement failed");
    }
}

}  // namespace forebay::test

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    doctest::Context context(argc, argv);
    context.setOption("minimal", rank != 0);
    int failed = context.run();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
