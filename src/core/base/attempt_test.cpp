// Goal: each exception becomes an Error of the right kind, even without memory for its text.
// Method: exceptions of many kinds are thrown; memory ends at a chosen allocation.

#include "core/base/attempt.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "support/failing_memory.hpp"

using namespace forebay;

namespace {

Error thrown_as(const std::function<void()>& work) {
    const auto answer = attempt(work);
    REQUIRE_FALSE(answer);
    return answer.error();
}

}  // namespace

TEST_CASE("what is answered is the answer") {
    CHECK(*attempt([]() -> Result<int> { return 7; }) == 7);
    CHECK(attempt([]() -> Result<int> { return Error{ErrorKind::missing, "m"}; }).error().kind == ErrorKind::missing);
    CHECK(attempt([] {}));
    auto moved = attempt([]() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(3); });
    CHECK(**moved == 3);
}

TEST_CASE("what is thrown is an Error of its kind, with its text") {
    const auto own = thrown_as([] { throw Exception({ErrorKind::corrupt, "its text"}); });
    CHECK(own.kind == ErrorKind::corrupt);
    CHECK(own.what == "its text");
    const auto none = thrown_as([] { throw std::bad_alloc(); });
    CHECK(none.kind == ErrorKind::full);
    CHECK(none.what.find("memory") != std::string::npos);
    const auto threads = thrown_as(
        [] { throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again), "thread"); });
    CHECK(threads.kind == ErrorKind::retry);
    const auto file = thrown_as([] { (void)std::filesystem::file_size("/does/not/exist"); });
    CHECK(file.kind == ErrorKind::broken);
    CHECK(file.what.find("/does/not/exist") != std::string::npos);
    const auto logic = thrown_as([] { throw std::logic_error("ours"); });
    CHECK(logic.kind == ErrorKind::broken);
    CHECK(logic.what.find("ours") != std::string::npos);
    CHECK(thrown_as([] { throw 7; }).kind == ErrorKind::broken);
}

TEST_CASE("without any memory the answer is still an Error") {
    for (const bool is_exception : {true, false}) {
        test::memory_is_over = true;
        test::failing_allocation = 0;
        const auto answer = attempt([&]() -> Result<int> {
            if (is_exception) throw std::bad_alloc();
            throw std::invalid_argument("");
        });
        test::failing_allocation = -1;
        REQUIRE_FALSE(answer);
        CHECK(answer.error().what == "no more memory");
    }
}

TEST_CASE("a thread that is cancelled unwinds through it, and the process goes on") {
    std::atomic<int> stage = 0;
    std::thread thread([&] {
        (void)attempt([&]() -> Result<int> {
            stage = 1;
            for (;;) ::pause();
        });
        stage = 2;
    });
    while (stage == 0) std::this_thread::yield();
    ::pthread_cancel(thread.native_handle());
    thread.join();
    CHECK(stage == 1);
}
