// Reads, writes and event queues of the fake libdfs; see fake_container.cpp.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "transfer/tests/daos/fake_dfs.hpp"

namespace {

struct HeldMove {
    daos_event_t* event = nullptr;
    std::function<int()> work;
};

std::mutex alone;
std::map<std::uint64_t, std::vector<HeldMove>> queues;
std::uint64_t last_queue = 0;

int do_read(dfs_obj_t* file, const d_sg_list_t* list, daos_off_t offset, daos_size_t* read) {
    *read = 0;
    for (uint32_t i = 0; i < list->sg_nr; ++i) {
        const auto got =
            ::pread(file->fd, list->sg_iovs[i].iov_buf, list->sg_iovs[i].iov_len, static_cast<off_t>(offset + *read));
        if (got < 0) return errno;
        *read += static_cast<daos_size_t>(got);
    }
    return 0;
}

int do_write(dfs_obj_t* file, const d_sg_list_t* list, daos_off_t offset) {
    if (const auto pause = variable("FAKE_DAOS_WRITE_MS"); !pause.empty())
        std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(pause)));
    for (uint32_t i = 0; i < list->sg_nr; ++i) {
        const auto& part = list->sg_iovs[i];
        if (::pwrite(file->fd, part.iov_buf, part.iov_len, static_cast<off_t>(offset)) !=
            static_cast<ssize_t>(part.iov_len))
            return errno;
        offset += part.iov_len;
    }
    return 0;
}

// With an event the work is done later, and its result goes to the event.
int now_or_later(daos_event_t* event, std::function<int()> work) {
    if (event == nullptr) return work();
    const std::lock_guard lock(alone);
    queues[event->ev_private.space[0]].push_back({event, std::move(work)});
    return 0;
}

}  // namespace

int daos_eq_create(daos_handle_t* queue) {
    const std::lock_guard lock(alone);
    queue->cookie = ++last_queue;
    queues[queue->cookie];
    return 0;
}
int daos_eq_destroy(daos_handle_t queue, int flags) {
    const std::lock_guard lock(alone);
    if (flags != DAOS_EQ_DESTROY_FORCE && !queues[queue.cookie].empty()) return -DER_BUSY;
    return queues.erase(queue.cookie) == 1 ? 0 : -DER_INVAL;
}
int daos_event_init(daos_event_t* event, daos_handle_t queue, daos_event_t*) {
    *event = {};
    event->ev_private.space[0] = queue.cookie;
    return 0;
}
int daos_event_fini(daos_event_t*) { return 0; }
int daos_eq_poll(daos_handle_t queue, int, int64_t, unsigned int count, daos_event_t** events) {
    if (wished_failure("daos_eq_poll") != 0) return -DER_TIMEDOUT;
    HeldMove request;
    {
        const std::lock_guard lock(alone);
        auto& waiting = queues[queue.cookie];
        if (waiting.empty() || count == 0) return 0;
        request = std::move(waiting.back());
        waiting.pop_back();
    }
    request.event->ev_error = request.work();
    events[0] = request.event;
    return 1;
}

int dfs_read(dfs_t*, dfs_obj_t* file, d_sg_list_t* list, daos_off_t offset, daos_size_t* read, daos_event_t* event) {
    return now_or_later(event, [=] {
        const int failed = wished_failure("dfs_read");
        return failed != 0 ? failed : do_read(file, list, offset, read);
    });
}

int dfs_write(dfs_t* dfs, dfs_obj_t* file, d_sg_list_t* list, daos_off_t offset, daos_event_t* event) {
    if (!dfs->may_write || (file->flags & O_ACCMODE) == O_RDONLY) return EPERM;
    return now_or_later(event, [=] {
        const int failed = wished_failure("dfs_write");
        return failed != 0 ? failed : do_write(file, list, offset);
    });
}
