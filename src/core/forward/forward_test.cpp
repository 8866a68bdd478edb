// Goal: a store behind a forwarder gives the same bytes and the same errors. Damaged messages, a wrong token and paths
// outside the run are refused. A lost forwarder or client costs a bounded time and leaves nothing open.
// Method: a forwarder over the simulated disk, on the loopback; its clients; and sides played by hand.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "core/describe/conventions.hpp"
#include "core/sys/machine.hpp"
#include "support/forwarder.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/soon.hpp"

using namespace forebay;
using namespace forebay::forward;
using namespace std::chrono_literals;
using test::client_of, test::loopback, test::timeout, test::serve;

namespace {

const std::string& run = test::forwarded_run;

std::unique_ptr<ForwardedStore> store_at(const Server& server) {
    return ForwardedStore::make(client_of({loopback(server.port())})).value();
}

std::vector<std::byte> numbered(std::size_t bytes) {
    std::vector<std::byte> all(bytes);
    for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(i * 31 + i / 977);
    return all;
}

/// A client played by hand, after its greeting.
sys::Connection greeted(const Server& server, const std::string& with_token = test::forwarder_token) {
    auto [connection, greeting] = test::known_at(server);
    const auto key = key_of(with_token).value();
    send(connection, FrameKind::proof, encode(Request{.number = word_of_client(key, greeting), .path = "by hand"}),
         timeout)
        .value();
    return std::move(connection);
}

Answer answer_of(sys::Connection& connection) {
    while (true) {
        const auto message = receive(connection, limits::answer_bytes_max, timeout, timeout).value();
        if (message.kind != FrameKind::beat) return decode_answer(message.body).value();
    }
}

/// Counts the open files.
class CountingStore final : public test::PassingStore {
public:
    using PassingStore::PassingStore;
    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        FB_TRY_ASSIGN(file, PassingStore::open(path, access));
        return std::unique_ptr<sys::File>(std::make_unique<Counted>(std::move(file), files));
    }
    std::atomic<int> files{0};

private:
    class Counted final : public test::PassingFile {
    public:
        Counted(std::unique_ptr<sys::File> file, std::atomic<int>& files)
            : PassingFile(std::move(file)), files_(files) {
            ++files_;
        }
        ~Counted() override { --files_; }

    private:
        std::atomic<int>& files_;
    };
};

}  // namespace

TEST_CASE("a story of files is the same through a forwarder") {
    test::SimStore disk;
    const auto server = serve(disk);
    const auto store = store_at(server);
    CHECK(store->exists(run).value());
    store->make_directories(run + "/restart/.part").value();
    const auto bytes = numbered((20u << 20) + 4096);  // three pieces
    const auto path = run + "/restart/.part/a.tmp";
    {
        auto file = store->open(path, sys::Access::create).value();
        file->write(4096, std::span(bytes).subspan(4096)).value();
        file->write(0, std::span(bytes).first(4096)).value();
        CHECK(file->size().value() == bytes.size());
        file->truncate(bytes.size() - 96).value();
        file->sync().value();
        file->close().value();
    }
    store->rename(path, run + "/restart/.part/a").value();
    store->sync_directory(run + "/restart/.part").value();
    const auto entries = store->list(run + "/restart/.part").value();
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].name == "a");
    CHECK(entries[0].size == bytes.size() - 96);
    CHECK_FALSE(entries[0].is_directory);
    auto file = store->open(run + "/restart/.part/a", sys::Access::read).value();
    std::vector<std::byte> back(bytes.size() - 96);
    file->read(0, back).value();
    CHECK(std::ranges::equal(back, std::span(bytes).first(back.size())));
    CHECK(disk.peek(run + "/restart/.part/a") == std::string(text_of(back)));
    CHECK(store->exists(run + "/restart/.part/a").value());
    store->remove(run + "/restart/.part/a").value();
    CHECK_FALSE(store->exists(run + "/restart/.part/a").value());
    store->remove_tree(run + "/restart").value();
    CHECK(store->list(run).value().empty());
}

TEST_CASE("several agents write one file through a forwarder: what is there stays") {
    test::SimStore disk;
    const auto server = serve(disk);
    const auto first = store_at(server), other = store_at(server);
    const auto bytes = numbered(8192);
    first->open(run + "/nodes", sys::Access::update).value()->write(0, bytes).value();
    other->open(run + "/nodes", sys::Access::update_direct).value()->write(8192, bytes).value();
    const auto all = disk.peek(run + "/nodes");
    REQUIRE(all);
    CHECK(all->size() == 16384);
    CHECK(std::ranges::equal(bytes_of(*all).first(8192), bytes));
}

TEST_CASE("past the page cache there is past it here, and what is not aligned is refused") {
    test::SimStore disk;
    disk.support_direct(true);
    const auto server = serve(disk);
    const auto store = store_at(server);
    auto file = store->open(run + "/a", sys::Access::create_direct).value();
    CHECK(file->direct());
    const auto bytes = numbered(3u << 20);
    file->write(0, bytes).value();
    CHECK_FALSE(file->write(1, std::span(bytes).first(10)));
}

TEST_CASE("errors come with their kinds and texts, and the forwarder's name") {
    test::SimStore disk;
    const auto server = serve(disk);
    const auto store = store_at(server);
    const auto same = [](const Error& through, const Error& direct) {
        CHECK(through.kind == direct.kind);
        CHECK(through.what == direct.what + " (by the forwarder " + sys::host_name() + ")");
    };
    same(store->open(run + "/none", sys::Access::read).error(), disk.open(run + "/none", sys::Access::read).error());
    same(store->list(run + "/none").error(), disk.list(run + "/none").error());
    auto file = store->open(run + "/a", sys::Access::create).value();
    for (const auto kind : {ErrorKind::full, ErrorKind::retry, ErrorKind::refused, ErrorKind::broken}) {
        const Error error{kind, "pwrite: told to fail"};
        disk.fail(test::Op::write, 0, error);
        same(file->write(0, numbered(100)).error(), error);
    }
    disk.fail(test::Op::sync, 0, {ErrorKind::retry, "fdatasync: Input/output error"});
    CHECK(file->sync().error().what.starts_with("fdatasync: Input/output error"));
    file->write(0, numbered(100)).value();  // the connection stays usable
    std::vector<std::byte> too_much(200);
    CHECK(file->read(0, too_much).error().kind == ErrorKind::corrupt);
}

TEST_CASE("bytes that were damaged on the way are not written") {
    test::SimStore disk;
    const auto server = serve(disk);
    auto connection = greeted(server);
    CHECK_FALSE(answer_of(connection).error);
    const auto ask = [&](FrameKind kind, const Request& request) {
        send(connection, kind, encode(request), timeout).value();
        return answer_of(connection);
    };
    const auto file = ask(FrameKind::open, {.access = sys::Access::create, .path = run + "/a"}).number;
    auto bytes = numbered(10'000);
    const Request write{.file = file, .offset = 0, .number = bytes.size(), .crc = crc32c(bytes)};
    CHECK_FALSE(ask(FrameKind::write, write).error);  // go
    bytes[5'000] ^= std::byte{4};
    connection.send(bytes, timeout).value();
    const auto answer = answer_of(connection);
    REQUIRE(answer.error);
    CHECK(answer.error->kind == ErrorKind::retry);
    CHECK(answer.error->text().find("10000 bytes at 0 were damaged") != std::string::npos);
    CHECK(disk.peek(run + "/a") == "");
    CHECK_FALSE(ask(FrameKind::write, write).error);
    bytes[5'000] ^= std::byte{4};
    connection.send(bytes, timeout).value();
    CHECK_FALSE(answer_of(connection).error);
    CHECK(disk.peek(run + "/a") == std::string(text_of(bytes)));
    // More bytes than a piece are refused at once, and a damaged request ends the connection.
    CHECK(ask(FrameKind::write, {.file = file, .number = limits::piece_bytes + 1}).error->kind == ErrorKind::refused);
    auto request = encode(Request{.path = run + "/a"});
    const auto header = encode(FrameHeader{.kind = FrameKind::remove,
                                           .body_bytes = static_cast<std::uint32_t>(request.size()),
                                           .body_crc = crc32c(request)});
    request.back() ^= std::byte{1};
    connection.send(header, timeout).value();
    connection.send(request, timeout).value();
    CHECK_FALSE(receive(connection, limits::answer_bytes_max, timeout, timeout));
    CHECK(disk.peek(run + "/a"));
}

TEST_CASE("without the token nobody comes in, and nobody is taken for a forwarder") {
    test::SimStore disk;
    const auto server = serve(disk);
    const std::string other = "ff0102030405060708090a0b0c0d0e0f";
    auto connection = greeted(server, other);
    const auto answer = answer_of(connection);
    REQUIRE(answer.error);
    CHECK(answer.error->kind == ErrorKind::refused);
    CHECK(disk.paths().empty());  // not even the run's directory
    CHECK_FALSE(receive(connection, limits::answer_bytes_max, timeout, timeout));
    CHECK(server.clients() == 0);
    // A request instead of the greeting.
    auto impatient = sys::Connection::open(loopback(server.port()), timeout).value();
    send(impatient, FrameKind::remove_tree, encode(Request{.path = run}), timeout).value();
    CHECK_FALSE(receive(impatient, limits::answer_bytes_max, timeout, timeout));
    // A client with the wrong token changes nothing either, and gets the reason.
    auto options = client_of({loopback(server.port())});
    options.token = other;
    const auto store = ForwardedStore::make(options).value();
    const auto refused = store->exists(run);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(refused.error().text().find("cannot prove that it has the token of this forwarder") != std::string::npos);
    options.token = "short";
    CHECK(ForwardedStore::make(options).error().kind == ErrorKind::refused);
}

TEST_CASE(
    "who listens there without the token is not taken for a forwarder, and is shown nothing that would admit it") {
    auto listener = sys::Listener::open("127.0.0.1:0").value();
    std::jthread impostor([&] {
        auto connection = std::move(listener.accept().value().value());
        const auto hello = receive(connection, limits::request_bytes_max, timeout, timeout).value();
        CHECK(hello.kind == FrameKind::hello);
        send(connection, FrameKind::go, encode(Answer{.number = 1, .word = 2}), timeout).value();
        CHECK_FALSE(receive(connection, limits::request_bytes_max, timeout, timeout));  // the client has left
    });
    const auto refused = ForwardedStore::make(client_of({loopback(listener.port())})).value()->exists(run);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(refused.error().text().find("is not a forwarder with this token") != std::string::npos);
}

TEST_CASE("paths out of the run, and other runs, are refused") {
    test::SimStore disk;
    disk.make_directories("/scratch/other").value();
    {
        const auto server = serve(disk);
        const auto store = store_at(server);
        const auto before = disk.paths().size() + 1;  // the run's directory
        const std::string out = run + "/../other/x";
        CHECK(store->open(out, sys::Access::create).error().kind == ErrorKind::refused);
        CHECK(store->open("/scratch/other/x", sys::Access::read).error().kind == ErrorKind::refused);
        CHECK(store->make_directories("/scratch/more").error().kind == ErrorKind::refused);
        CHECK(store->remove_tree("/scratch/other").error().kind == ErrorKind::refused);
        CHECK(store->rename(run, "/scratch/moved").error().kind == ErrorKind::refused);
        CHECK(store->rename("/scratch/other", run + "/mine").error().kind == ErrorKind::refused);
        CHECK(store->list("/scratch").error().kind == ErrorKind::refused);
        CHECK(store->exists("/scratch").error().kind == ErrorKind::refused);
        CHECK(store->sync_directory("/scratch").error().kind == ErrorKind::refused);
        CHECK(store->remove("/scratch/other").error().kind == ErrorKind::refused);
        CHECK(disk.paths().size() == before);
    }
    const auto server = serve(disk, {.run = "/scratch/other"});
    const auto refused = store_at(server)->exists(run);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text().find("this is a forwarder of the run /scratch/other") != std::string::npos);
}

TEST_CASE("a client that vanishes leaves no file open") {
    test::SimStore disk;
    CountingStore store(disk);
    const auto server = serve(store);
    auto half = store_at(server);
    auto file = half->open(run + "/a.tmp", sys::Access::create).value();
    file->write(0, numbered(100)).value();
    {
        auto connection = greeted(server);
        CHECK_FALSE(answer_of(connection).error);
        send(connection, FrameKind::open, encode(Request{.access = sys::Access::create, .path = run + "/b.tmp"}),
             timeout)
            .value();
        CHECK_FALSE(answer_of(connection).error);
        CHECK(store.files == 2);
        CHECK(server.clients() == 2);
    }
    CHECK(test::soon([&] { return store.files == 1 && server.clients() == 1; }));
    file.reset();
    half.reset();
    CHECK(test::soon([&] { return store.files == 0 && server.clients() == 0; }));
    CHECK(disk.peek(run + "/b.tmp"));  // `recover` removes it, as after the kill of an agent
}

TEST_CASE("several write at once through fewer pieces than they are") {
    test::SimStore disk;
    const auto server = serve(disk, {.pieces_max = 1});
    const auto store = store_at(server);
    auto file = store->open(run + "/a", sys::Access::create).value();
    const auto bytes = numbered(8u << 20);
    constexpr std::size_t part = 1u << 20;
    {
        std::vector<std::jthread> writers;
        for (std::size_t i = 0; i < 8; ++i)
            writers.emplace_back([&, i] { file->write(i * part, std::span(bytes).subspan(i * part, part)).value(); });
    }
    file->close().value();
    CHECK(disk.peek(run + "/a") == std::string(text_of(bytes)));
    CHECK(server.clients() == 1);
}

TEST_CASE("views are asked for in each convention that is known, in one of a later version, and in none") {
    test::SimStore disk;
    std::vector<Convention> conventions;
    const auto server = serve(disk, {.make_view = [&](const ViewWanted& wanted) -> Result<> {
                                  conventions.push_back(wanted.convention);
                                  return {};
                              }});
    const auto store = store_at(server);
    const auto ask = [&](Convention convention) {
        return store->make_view("restart", 7, run + "/restart/step-000007", convention);
    };
    for (const auto& known : describe::known_conventions) CHECK(ask(known.convention));
    CHECK(conventions.size() == describe::known_conventions.size());
    const auto later = ask(static_cast<Convention>(describe::known_conventions.size()));
    REQUIRE_FALSE(later);
    CHECK(later.error().kind == ErrorKind::unsupported);
    CHECK(later.error().text().find("this version of the forwarder does not know this kind of view") !=
          std::string::npos);
    const auto none = ask(static_cast<Convention>(describe::conventions_max));
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == ErrorKind::refused);
    CHECK(none.error().text().find("32 is not a kind of view") != std::string::npos);
    CHECK(conventions.size() == describe::known_conventions.size());
}
