#include "bench/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "core/base/bytes.hpp"
#include "core/comm/alike.hpp"
#include "core/sys/machine.hpp"

namespace forebay::bench {

Result<> check_alike(Ranks& ranks) {
    // Without the program's path, which may differ on other nodes.
    const auto command_line = sys::kernel_text("/proc/self/cmdline");
    auto words = command_line ? *command_line : std::string();
    words.erase(0, words.find('\0') + 1);
    FB_TRY_ASSIGN(unlike, comm::agree_alike(ranks.group(), {}, bytes_of(words)));
    if (!unlike) return {};
    const auto shown = [](const std::vector<std::byte>& bytes) {
        std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        std::ranges::replace(text, '\0', ' ');
        return text;
    };
    return Error{ErrorKind::refused,
                 fmt::format("ranks have different options: rank 0 has {}and rank {} has {}", shown(unlike->of_first),
                             unlike->other, shown(unlike->of_other)),
                 "nothing was written", "start all ranks with the same options"};
}

Error after_removal(Error error) {
    if (error.safe.empty()) return error;
    error.safe = "all earlier data. The files of the benchmark are removed";
    error.next.clear();
    return error;
}

Result<cli::Exit> in_job(std::uint64_t bytes_per_rank, const std::function<Result<>(Ranks&)>& work) {
    const MpiUse mpi;
    Ranks ranks(MPI_COMM_WORLD);
    const auto done = [&]() -> Result<> {
        try {
            FB_TRY(check_alike(ranks));
            return work(ranks);
        } catch (const std::bad_alloc&) {
            return Error{ErrorKind::full,
                         fmt::format("there is not enough memory for {} bytes on each rank", bytes_per_rank), "",
                         "use a smaller --bytes-per-rank"};
        }
    }();
    if (done) return cli::Exit::good;
    if (ranks.rank() != 0) return cli::exit_of(done.error().kind);
    return after_removal(done.error());
}

}  // namespace forebay::bench
