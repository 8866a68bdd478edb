// Goal: a drain uses one way from its beginning to its end. A neighbour that does not answer, or fails, is not used for
// a while: another neighbour takes its place, then the node's own way. An error of the way is `retry`. Method:
// neighbours whose files have names of their own.

#include "path/agent/detour.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "core/base/bytes.hpp"
#include "support/passing_store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::agent;
using namespace std::chrono_literals;

namespace {

constexpr auto alone_for = 50ms;

// Its files have a suffix that shows the way of a write.
class NeighbourStore final : public test::PassingStore {
public:
    explicit NeighbourStore(std::string suffix) : PassingStore(sys::posix_store()), suffix_(std::move(suffix)) {}
    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        if (fails) return *fails;
        auto file = PassingStore::open(path + suffix_, access);
        if (!file) return file;
        return std::unique_ptr<sys::File>(std::make_unique<FailingFile>(std::move(*file), *this));
    }
    Result<> rename(const std::string& from, const std::string& to) override {
        if (fails) return *fails;
        return PassingStore::rename(from + suffix_, to + (swallows ? suffix_ : ""));
    }
    std::optional<Error> fails, write_fails;
    bool swallows = false;  // renamed files vanish for other clients

private:
    class FailingFile final : public test::PassingFile {
    public:
        FailingFile(std::unique_ptr<sys::File> file, NeighbourStore& of) : PassingFile(std::move(file)), of_(of) {}
        Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
            if (of_.write_fails) return *of_.write_fails;
            return PassingFile::write(offset, bytes);
        }

    private:
        NeighbourStore& of_;
    };
    const std::string suffix_;
};

struct DetouredNode {
    test::TempDirectory folder;
    std::shared_ptr<NeighbourStore> neighbours[2] = {std::make_shared<NeighbourStore>(".0"),
                                                     std::make_shared<NeighbourStore>(".1")};
    std::set<std::uint32_t> absent;
    std::vector<std::uint32_t> asked;
    std::vector<Event> events;
    Detour detour{sys::posix_store(),
                  {.helpers = 2,
                   .first = 1,
                   .open = [this](std::uint32_t helper) -> Result<NeighbourWay> {
                       asked.push_back(helper);
                       if (absent.contains(helper)) return Error{ErrorKind::retry, "nobody is there"};
                       return NeighbourWay{neighbours[helper], "n" + std::to_string(helper)};
                   },
                   .pause = alone_for},
                  [this](const Event& event) { events.push_back(event); }};

    Result<> write(const std::string& name) {
        auto file = detour.open(folder / name, sys::Access::create);
        if (!file) return file.error();
        auto wrote = (*file)->write(0, bytes_of(name));
        return wrote ? (*file)->close() : wrote;
    }
    bool exists(const std::string& name) const { return sys::posix_store().exists(folder / name).value(); }
    std::size_t count(What what) const {
        return static_cast<std::size_t>(std::ranges::count(events, what, &Event::what));
    }
};

}  // namespace

TEST_CASE("a drain goes through the neighbour that is chosen, and what comes between drains does not") {
    DetouredNode job;
    CHECK(job.write("before"));
    CHECK(job.exists("before"));
    job.detour.choose("this node is excluded");
    CHECK(job.write("drain"));
    CHECK(job.exists("drain.1"));
    CHECK_FALSE(job.exists("drain"));
    job.detour.rest();
    CHECK(job.detour.is_own());
    CHECK(job.write("commit"));
    CHECK(job.exists("commit"));
    job.detour.choose("this node is excluded");
    CHECK(job.write("next"));
    CHECK(job.exists("next.1"));
    CHECK(job.asked == std::vector<std::uint32_t>{1});  // the connection stays
    CHECK(job.count(What::detours) == 1);
    CHECK(job.events.front().detail == "through n1: this node is excluded");
    job.detour.choose("");
    CHECK(job.write("itself"));
    CHECK(job.exists("itself"));
}

TEST_CASE("a file that is open stays with its way") {
    DetouredNode job;
    job.detour.choose("this node is slow");
    auto file = job.detour.open(job.folder / "long", sys::Access::create).value();
    job.detour.choose("");
    CHECK(file->write(0, bytes_of("long")));
    CHECK(file->close());
    CHECK(job.exists("long.1"));
    CHECK_FALSE(job.exists("long"));
}

TEST_CASE("one that fails is left alone, the next stands in, then the node writes itself, and tries again later") {
    DetouredNode job;
    job.neighbours[1]->write_fails = Error{ErrorKind::broken, "its mount is gone"};
    job.detour.choose("this node is excluded");
    const auto failed = job.write("a");
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::retry);
    job.detour.set_aside();
    job.detour.choose("this node is excluded");
    CHECK(job.write("a"));
    CHECK(job.exists("a.0"));
    job.absent = {0};
    job.detour.set_aside();
    job.detour.choose("this node is excluded");
    CHECK(job.write("a"));
    CHECK(job.exists("a"));
    CHECK(job.count(What::no_detour) == 1);
    const auto asked = job.asked.size();
    job.detour.choose("this node is excluded");  // within the pause it asks no neighbour
    CHECK(job.asked.size() == asked);
    CHECK(job.count(What::no_detour) == 1);
    std::this_thread::sleep_for(2 * alone_for);
    job.neighbours[1]->write_fails.reset();
    job.detour.choose("this node is excluded");
    CHECK(job.write("b"));
    CHECK(job.exists("b.1"));
    CHECK(job.count(What::detours) == 3);
}

TEST_CASE("where nobody is, the node writes itself, and says so once") {
    DetouredNode job;
    job.absent = {0, 1};
    for (int drain = 0; drain < 3; ++drain) {
        job.detour.choose("this node is excluded");
        CHECK(job.write("a"));
        job.detour.rest();
    }
    CHECK(job.exists("a"));
    REQUIRE(job.events.size() == 1);
    CHECK(job.events[0].what == What::no_detour);
    CHECK(line_of(job.events[0]).find("no neighbour answers: nobody is there") != std::string::npos);
}

TEST_CASE("whatever a neighbour lacks is no word about the target, which is asked by the own way") {
    DetouredNode job;
    job.detour.choose("this node is excluded");
    for (const auto kind : {ErrorKind::missing, ErrorKind::full, ErrorKind::corrupt, ErrorKind::refused}) {
        job.neighbours[1]->fails = Error{kind, "x"};
        CHECK(job.write("a").error().kind == ErrorKind::retry);
        CHECK(job.detour.rename(job.folder / "a", job.folder / "b").error().kind == ErrorKind::retry);
        CHECK(job.detour.exists(job.folder / "a").value() == false);
    }
    CHECK(job.detour.open(job.folder / "a", sys::Access::read).error().kind == ErrorKind::missing);
}

TEST_CASE("a file that a neighbour has written is there for the own way, or is drained again") {
    DetouredNode job;
    job.detour.choose("this node is excluded");
    CHECK(job.write("a"));
    CHECK(job.detour.rename(job.folder / "a", job.folder / "b"));
    CHECK(job.exists("b"));
    job.neighbours[1]->swallows = true;
    CHECK(job.write("c"));
    const auto lost = job.detour.rename(job.folder / "c", job.folder / "d");
    REQUIRE_FALSE(lost);
    CHECK(lost.error().kind == ErrorKind::retry);
    CHECK(lost.error().what.find("the data that n1 wrote are not there") != std::string::npos);
}

TEST_CASE("a wish for storage targets is no error on the way: the file lies where the file system puts it") {
    DetouredNode job;
    job.detour.choose("this node is excluded");
    CHECK(job.detour.make_striped(job.folder / "a", {1u << 20, {3}}));
    CHECK_FALSE(job.exists("a"));
    CHECK(job.write("a"));
    job.detour.rest();
    CHECK_FALSE(job.detour.make_striped(job.folder / "b", {1u << 20, {3}}));  // this machine's temporary directory
}
