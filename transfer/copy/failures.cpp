#include "transfer/copy/failures.hpp"

namespace forebay::tree {

void Failures::report(const std::string& path, const Error& error) {
    if (share_.is_stopped() && error.kind == ErrorKind::retry) return;  // an entry that the end has cut off
    if (take_failed_) take_failed_(path);
    if (error.kind == ErrorKind::unsupported) remarks_.add(RemarkKind::not_kept, path, error.what);
    else remarks_.add_error(path, error);
    if (error.kind == ErrorKind::full)
        end_by({error.kind, error.what, "all that has its final name is whole", error.next});
}

void Failures::report(const BranchRef& branch, const std::string& name, const Error& error) {
    report(name.empty() ? path_of(*branch) : path_of(*branch, name), folders_.with_side(branch, name, error));
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
