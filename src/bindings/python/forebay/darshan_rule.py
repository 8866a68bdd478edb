"""Finds the storage targets that kept a job waiting, from Darshan's counts of its files.

A target is slow if all of this holds:

- Its ratio is below 0.8, and further from the median than 3.5 median absolute deviations. If each file lies on one
  target, the ratio is that of the target's throughput. Else it is that of the rates of its files, since a file is as
  late as its slowest target.
- The rates of its files support it one by one, as in telemetry/slow.cpp.
- With 64 files or more, files are slower the larger their part on this target: Pearson's correlation is so far below
  0 that chance causes it once in 30,000 targets.

If several targets are slow, the target with the lowest correlation is reported. The remaining targets are judged
again without the files that have a part on it: with four stripes from OST 3 on, OST 4 shares three quarters of its
files with OST 3.
"""

import collections
import functools
import math
import statistics

LOW_RATIO, SMALL_RATIO, FAR_Z, MANY_FILES, CHANCE_DEVIATIONS = 0.8, 0.5, 3.5, 64, 4
NORMAL, DEVIATION_MIN = 1.4826, 0.02  # from a median absolute deviation to a standard deviation; of equal values
SMALL_SHARE = 0.1  # smaller files, such as logs, show the time of calls, not the rate of targets
SECONDS_MIN = 1e-6  # of a write: the resolution of clocks


def median(values):
    return statistics.median(values) if values else 0.0


def seconds_of(windows):
    """The time in which at least one window was open. Between files nothing is written, maybe for hours."""
    total = end = 0.0
    for first, last in sorted(windows):
        total += max(last - max(first, end), 0.0)
        end = max(end, last)
    return total


def rate_of(file):
    return (file.written + file.read) / max(file.seconds if file.seconds > 0 else file.last - file.first, SECONDS_MIN)


def slow_names(samples):
    """The rule of telemetry/slow.cpp on {name: rates}, a likelihood ratio: each rate below 0.8 of the median counts
    for a slow target, and each other rate against it."""
    samples = {name: [rate for rate in rates if rate > 0] for name, rates in samples.items()}
    samples = {name: rates for name, rates in samples.items() if rates}
    if len(samples) < 2:
        return set()
    medians = {name: median(rates) for name, rates in samples.items()}
    middle = median(medians.values())
    deviation = max(NORMAL * median([abs(math.log(one / middle)) for one in medians.values()]), DEVIATION_MIN)
    low = {name: sum(rate < LOW_RATIO * middle for rate in rates) for name, rates in samples.items()}
    count, low_count = sum(map(len, samples.values())), sum(low.values())

    def is_slow(name):
        ratio, z, own = medians[name] / middle, math.log(middle / medians[name]) / deviation, len(samples[name])
        if ratio >= LOW_RATIO:
            return False
        if len(samples) < 4:
            return ratio < SMALL_RATIO and own >= 3 and low[name] == own
        if own < 3:
            return ratio < 0.25 and z > 8
        share = (low_count - low[name]) / (count - own) if count > own else 1
        share = min(max(share, 0.02), 0.5)
        likelihood = low[name] * math.log(0.9 / share) + (own - low[name]) * math.log(0.1 / (1 - share))
        return z >= 3 and likelihood > 9.20  # 1 of 10,000 is wrongly reported, 1 of 100 wrongly missed
    return {name for name in samples if is_slow(name)}


class Look:
    """One judgement of files of one mount."""

    def __init__(self, files):
        self.rates = [rate_of(file) for file in files]
        self.median_file_rate = median(self.rates)
        self.gathered = {}
        for file, rate in zip(files, self.rates):
            shares = collections.Counter(file.targets)  # a target may have several stripes
            for target, stripes in shares.items():
                self.gathered.setdefault(target, []).append((file, rate, stripes / len(file.targets)))
        parts = sum(map(len, self.gathered.values()))
        self.is_told_apart = parts < len(files) * len(self.gathered)
        self.is_on_one = parts == len(files)
        self.bytes = float(sum(file.written for file in files))
        self.seconds = seconds_of((file.first, file.last) for file in files)
        self.targets = {number: self.target(number, parts) for number, parts in sorted(self.gathered.items())}
        self.compare()

    def target(self, number, parts):
        seconds = seconds_of((file.first, file.last) for file, _, _ in parts)
        size = sum(share * file.written for file, _, share in parts)
        return {"target": number, "files": len(parts), "bytes": size, "seconds": seconds,
                "rate": size / max(seconds, SECONDS_MIN),
                "file_ratio": median([rate for _, rate, _ in parts]) / self.median_file_rate,
                "correlation": self.correlation(parts)}

    def correlation(self, parts):
        """Pearson's correlation of a file's rate with the part of it on this target."""
        count, mean = len(self.rates), self.mean_rate
        share_sum = sum(share for _, _, share in parts)
        shares = sum(share * share for _, _, share in parts) - share_sum * share_sum / count
        together = sum(share * rate for _, rate, share in parts) - share_sum * mean
        spread = self.spread
        return 0.0 if spread <= 0 or shares <= 0 else min(max(together / math.sqrt(spread * shares), -1.0), 1.0)

    @functools.cached_property
    def mean_rate(self):
        return sum(self.rates) / len(self.rates)

    @functools.cached_property
    def spread(self):
        return sum((rate - self.mean_rate) ** 2 for rate in self.rates)

    def judged(self, target):
        return target["ratio"] if self.is_on_one else target["file_ratio"]

    def compare(self):
        self.median_rate = median([target["rate"] for target in self.targets.values()])
        for target in self.targets.values():
            target["ratio"] = target["rate"] / self.median_rate if self.median_rate > 0 else 1.0
        ratios = [self.judged(target) for target in self.targets.values()]
        middle = median(ratios)
        deviation = max(NORMAL * median([abs(ratio - middle) for ratio in ratios]), DEVIATION_MIN * middle, 1e-12)
        by_files = slow_names({number: [rate for _, rate, _ in parts] for number, parts in self.gathered.items()})
        chance = -CHANCE_DEVIATIONS / math.sqrt(len(self.rates)) if self.rates else 0
        for number, target in self.targets.items():
            target["z"] = (middle - self.judged(target)) / deviation
            agrees = len(self.rates) < MANY_FILES or target["correlation"] < chance
            target["slow"] = (self.is_told_apart and self.judged(target) < LOW_RATIO and target["z"] > FAR_Z and agrees
                              and number in by_files)


def median_size(files):
    """The size with half of all bytes in smaller files."""
    sizes = sorted(file.written for file in files)
    below, half = 0, sum(sizes) / 2
    return next((size for size in sizes if (below := below + size) >= half), 0)


def judge_mount(mount, files):
    large = [file for file in files if file.written >= SMALL_SHARE * median_size(files)]
    first = Look(large)
    slow, others, look, left = {}, dict(first.targets), first, large
    while len(slow) < len(first.targets) // 2:
        if slow:
            others |= {number: target for number, target in look.targets.items() if number in others}
        named = [target for target in look.targets.values() if target["slow"] and target["target"] not in slow]
        if not named:
            break
        lowest = min(named, key=lambda target: target["correlation"])
        slow[lowest["target"]] = lowest
        del others[lowest["target"]]
        left = [file for file in left if lowest["target"] not in file.targets]
        look = Look(left)
    targets = [target | {"slow": number in slow} for number, target in [*sorted(slow.items()), *sorted(others.items())]]
    targets.sort(key=lambda target: (not target["slow"], first.judged(target)))
    judged = {"mount": mount, "files": len(large), "small_files": len(files) - len(large), "bytes": first.bytes,
              "seconds": first.seconds, "median_rate": first.median_rate, "told_apart": first.is_told_apart,
              "targets": targets}
    return judged | predict(judged, first.is_on_one)


def predict(mount, is_on_one):
    """The time for all bytes on the other targets, at the rate of the slowest of them. For files on several targets: at
    the rate of the files without a part on a slow target."""
    kept = [target for target in mount["targets"] if not target["slow"]]
    slow = [target for target in mount["targets"] if target["slow"]]
    size = sum(target["bytes"] for target in kept)
    if not slow or size <= 0:
        return {}
    if is_on_one:
        without = max(target["seconds"] for target in kept) * mount["bytes"] / size
    else:
        without = mount["seconds"] * min(1, *(target["file_ratio"] for target in slow)) / median(
            [target["file_ratio"] for target in kept])
    numbers = sorted(target["target"] for target in kept)
    return {"seconds_without": without, "setstripe": f"lfs setstripe -c {len(kept)} -o {ranges_of(numbers)} DIRECTORY"}


def ranges_of(numbers):
    """A list such as "0-13,15-23", for `lfs setstripe -o`."""
    ranges = []
    for one in numbers:
        if ranges and ranges[-1][1] + 1 == one:
            ranges[-1][1] = one
        else:
            ranges.append([one, one])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def judge(files):
    mounts = {}
    for file in files:
        mounts.setdefault(file.mount, []).append(file)
    return [judge_mount(mount, of_mount) for mount, of_mount in sorted(mounts.items())]
