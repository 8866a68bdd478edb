#include "transfer/copy/failures.hpp"

namespace forebay::tree {

void Failures::report(const std::string& path, const Error& error) {
    if (share_.is_stopped() && error.kind == ErrorKind::retry) return;  // an entry cut off by the end
    if (take_failed_) take_failed_(path);
    if (error.kind == ErrorKind::unsupported) entry_log_.add(EntryEvent::not_kept, path, error.what);
    else entry_log_.add_error(path, error);
    if (error.kind == ErrorKind::full)
        end_by({error.kind, error.what, "every file with its final name is whole", error.next});
}

void Failures::report(const DirNodeRef& dir_node, const std::string& name, const Error& error) {
    report(name.empty() ? path_of(*dir_node) : path_of(*dir_node, name), folders_.with_side(dir_node, name, error));
}

void Failures::end_by(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (fatal_) fatal_ = error;
    share_.stop();
}

Result<> Failures::fatal() const {
    const std::lock_guard lock(mutex_);
    return fatal_;
}

}  // namespace forebay::tree
