// Makes the staged snapshot of a dead session, for the scripts in this directory:
//
//     make_staged STAGING RUN STREAM STEP NODES NODE [ID]
//
// The node file of NODE is staged and sealed. The target has nothing of it. Paths are absolute.

#include <cstdio>
#include <cstdlib>

#include "core/base/try.hpp"
#include "core/sys/private_file.hpp"
#include "path/node/staging.hpp"
#include "support/small_run.hpp"

using namespace forebay;

namespace {

Result<> make(const std::string& staging, const std::string& run, const test::SmallSnapshot& snapshot,
              std::uint32_t node) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(directory, node::staging_directory(staging, run, 0, node));
    FB_TRY(sys::make_private_directory(directory));
    FB_TRY_ASSIGN(session, node::encode_session({.run = run, .host = "host", .process = 1, .agent = {}}));
    FB_TRY(sys::write_text_durable(store, directory + "/session.json", session));
    FB_TRY_ASSIGN(file, store.open(directory + "/" + snapshot.stream + ".0.h5", sys::Access::create));
    FB_TRY(file->write(0, test::small_node_file(snapshot, node)));
    return file->close();
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 7 || count > 8)
        return std::fputs("usage: make_staged STAGING RUN STREAM STEP NODES NODE [ID]\n", stderr), 2;
    test::SmallSnapshot snapshot;
    snapshot.stream = arguments[3];
    snapshot.step = std::atoll(arguments[4]);
    snapshot.nodes = static_cast<std::uint32_t>(std::atoi(arguments[5]));
    if (count > 7) snapshot.id = std::strtoull(arguments[7], nullptr, 16);
    const auto result = make(arguments[1], arguments[2], snapshot, static_cast<std::uint32_t>(std::atoi(arguments[6])));
    if (result) return 0;
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    return 1;
}
