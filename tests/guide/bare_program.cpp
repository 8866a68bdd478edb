// A program of one process for bare_chroot: it continues where its last run ended.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "forebay/forebay.hpp"

int main(int argc, char** argv) try {
    constexpr std::uint64_t cells = 1'000'000;
    std::vector<double> u(cells);
    std::int64_t step = 0;
    auto session = forebay::Session::open({.run = argc > 1 ? argv[1] : "run1"}).value();
    auto stream = session.stream("restart").value();
    stream.replicated("step", &step).value();
    stream.array("u", forebay::f64, {cells}, {forebay::packed({{0}, {cells}}, u.data())}, {.unit = "m/s"}).value();
    stream.restore().value();
    std::printf("starting after step %lld\n", static_cast<long long>(step));
    if (u[0] != 0.5 * static_cast<double>(step)) return 1;
    for (const auto end = step + 5; step < end;) {
        for (auto& value : u) value += 0.5;
        stream.save(++step).value();
    }
    session.close().value();
    return 0;
} catch (const forebay::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
