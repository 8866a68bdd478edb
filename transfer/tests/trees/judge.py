#!/usr/bin/env python3
"""Whether one tree is a faithful copy of another, by no code of ours: each thing that an entry has is a column.

    transfer/tests/trees/judge.py LEFT RIGHT [--json] [--list N]

A column is "ok" where every entry has kept it, else "kept/of"; "-" where the left tree has none of it. An entry that is
missing on the right, or of another kind, counts against its kind, and against odd names where it is a file, a directory
or a symlink; what else it had is not counted. Exit code 0: every column is kept, and nothing is on the right alone. 1:
not so. Access times are not compared.
"""

import argparse
import collections
import json
import re
import stat
import sys
from dataclasses import dataclass, field

import pairs

SLACK_BYTES = 32 << 10  # what file systems allocate beyond the data: pages, blocks of xattrs, trees of extents
PLAIN_NAME = re.compile(rb"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,199}\Z")
COLUMNS = ["entries", "hard links", "fifo", "socket", "device", "sparse", "xattr", "acl", "capability", "file mtime ns",
           "dir mtime ns", "symlink mtime ns", "special mtime ns", "mode", "owner", "odd names", "symlinks", "bytes", "nothing more"]
KINDS = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device", stat.S_IFLNK: "symlinks"}
TIMES = {stat.S_IFREG: "file mtime ns", stat.S_IFDIR: "dir mtime ns", stat.S_IFLNK: "symlink mtime ns"}


@dataclass
class Column:
    kept: int = 0
    of: int = 0

    def shown(self):
        if self.kept == self.of:
            return "ok" if self.of else "-"
        return f"{self.kept}/{self.of}"


@dataclass
class Verdict:
    columns: dict = field(default_factory=lambda: {name: Column() for name in COLUMNS})
    differences: list = field(default_factory=list)  # (column, path, left, right)

    @property
    def equal(self):
        return all(one.kept == one.of for one in self.columns.values())

    def count(self, column, path, left, right, same=None):
        good = left == right if same is None else same
        self.columns[column].of += 1
        self.columns[column].kept += good
        if not good:
            self.differences.append((column, path, left, right))

    def failed(self):
        return [name for name, one in self.columns.items() if one.kept != one.of]

    def shown(self):
        return {name: "ok" if name == "nothing more" and self.columns[name].of == 0 else one.shown() for name, one in self.columns.items()}


def allocated(entry):
    return entry.stat.st_blocks * 512


def split(xattrs):
    """Of all extended attributes: those that anybody names, ACLs, and capabilities."""
    acls = {key: value for key, value in xattrs.items() if key in pairs.ACLS}
    capabilities = {key: value for key, value in xattrs.items() if key == pairs.CAPABILITY}
    return {"xattr": {key: value for key, value in xattrs.items() if key not in acls and key not in capabilities}, "acl": acls,
            "capability": capabilities}


def judge_attributes(verdict, path, left, right):
    """What two entries of one kind have."""
    verdict.count(TIMES.get(left.kind, "special mtime ns"), path, left.stat.st_mtime_ns, right.stat.st_mtime_ns)
    verdict.count("owner", path, (left.stat.st_uid, left.stat.st_gid), (right.stat.st_uid, right.stat.st_gid))
    if left.kind != stat.S_IFLNK:
        verdict.count("mode", path, f"{left.stat.st_mode:o}", f"{right.stat.st_mode:o}")
    others = split(right.xattrs)
    for column, xattrs in split(left.xattrs).items():
        if xattrs or others[column]:
            verdict.count(column, path, xattrs, others[column])
    if left.kind == stat.S_IFREG and allocated(left) + SLACK_BYTES < left.stat.st_size:
        verdict.count("sparse", path, allocated(left), allocated(right), allocated(right) <= allocated(left) + SLACK_BYTES)


def judge_pair(verdict, pair):
    path, left, right = pair.path, pair.left, pair.right
    if left is None:
        verdict.count("nothing more", path, None, f"{right.stat.st_mode:o}", False)
        return
    same_kind = right is not None and left.kind == right.kind
    verdict.count("entries", path, f"{left.stat.st_mode:o}", right and f"{right.stat.st_mode:o}", same_kind)
    if left.kind in TIMES and not PLAIN_NAME.match(path.rsplit(b"/", 1)[-1]):
        verdict.count("odd names", path, "there", "there" if right else "missing")
    if left.kind == stat.S_IFREG:
        verdict.count("bytes", path, left.stat.st_size, right and right.stat.st_size, same_kind and pair.equal_bytes)
    if column := KINDS.get(left.kind):
        of_left = left.target if left.kind == stat.S_IFLNK else left.stat.st_rdev
        of_right = right and (right.target if left.kind == stat.S_IFLNK else right.stat.st_rdev)
        verdict.count(column, path, of_left, of_right, same_kind and of_left == of_right)
    if same_kind:
        judge_attributes(verdict, path, left, right)


def judge_links(verdict, left_groups, right_groups):
    """A group is kept where the same names, and no others, are one inode on the right. A group on the right alone is more."""
    def several(groups):
        return {frozenset(paths) for paths in groups.values() if len(paths) > 1}

    left, right = several(left_groups), several(right_groups)
    for group in sorted(left, key=sorted):
        verdict.count("hard links", b" = ".join(sorted(group)), len(group), len(group) if group in right else "apart")
    by_name = {path: group for group in left for path in group}
    for group in sorted(right - left, key=sorted):
        if not any(group & by_name.get(path, frozenset()) for path in group):
            verdict.count("nothing more", b" = ".join(sorted(group)), "apart", "one inode", False)


def judge(left, right):
    verdict = Verdict()
    groups = collections.defaultdict(list), collections.defaultdict(list)
    for pair in pairs.walk(left, right):
        judge_pair(verdict, pair)
        for side, entry in zip(groups, (pair.left, pair.right)):
            if entry and entry.kind != stat.S_IFDIR and entry.stat.st_nlink > 1:
                side[entry.stat.st_dev, entry.stat.st_ino].append(pair.path)
    judge_links(verdict, *groups)
    return verdict


def told(value):
    if isinstance(value, bytes):
        return repr(value)[2:-1]
    if isinstance(value, dict):
        return {told(key): told(each) for key, each in value.items()}
    return list(value) if isinstance(value, tuple) else value


def differences(verdict, most):
    return [{"column": column, "path": told(path), "left": told(left), "right": told(right)}
            for column, path, left, right in verdict.differences[:most]]


def text(verdict, most=20):
    lines = [f"{name:17} {shown}" for name, shown in verdict.shown().items()]
    lines += [f"{one['column']}: {one['path']}: {one['left']} is {one['right']}" for one in differences(verdict, most)]
    if len(verdict.differences) > most:
        lines.append(f"and {len(verdict.differences) - most} more")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("left")
    parser.add_argument("right")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--list", type=int, default=20, metavar="N", help="of the differences, the first N (20)")
    given = parser.parse_args()
    verdict = judge(given.left, given.right)
    if given.json:
        columns = {name: {"kept": one.kept, "of": one.of} for name, one in verdict.columns.items()}
        print(json.dumps({"equal": verdict.equal, "columns": columns, "different": len(verdict.differences),
                          "differences": differences(verdict, given.list)}))
    else:
        print(text(verdict, given.list))
    return 0 if verdict.equal else 1


if __name__ == "__main__":
    sys.exit(main())
