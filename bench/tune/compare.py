#!/usr/bin/env python3
"""Searchers for settings in the same budget, on emulated storage: that of `forebay tune` with and without its rows by rule,
random search, and TPE of Optuna where it is installed (requirements-tools.txt; it is named where it is left out). The score is
the best setting's true seconds / those of the setting that a searcher has chosen, from what it has measured under noise."""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FOREBAY_BINARY_DIR", ROOT / "build"), "bin/tune_emulator")

try:
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
except ImportError:
    optuna = None


class Storage:
    """Trials of all bytes, as many as the budget has; the lowest cost is the searcher's choice."""

    def __init__(self, given, seed):
        self.job = subprocess.Popen([PROGRAM, "serve", str(given.noise), str(given.busy), str(seed)], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
        self.knobs = json.loads(self.job.stdout.readline())["knobs"]
        self.best = (float("inf"), 0)

    def cost(self, setting):
        self.job.stdin.write(json.dumps({"setting": setting}) + "\n")
        self.job.stdin.flush()
        told = json.loads(self.job.stdout.readline())
        self.best = min(self.best, (told["cost"], told["score"]))
        return told["cost"]

    def end(self):
        self.job.stdin.close()
        assert self.job.wait() == 0
        return self.best[1]


def randomly(given, seed):
    storage, dice = Storage(given, seed), random.Random(seed)
    for _ in range(int(given.budget)):
        storage.cost({knob["name"]: dice.choice(knob["values"]) for knob in storage.knobs})
    return storage.end()


def by_optuna(given, seed):
    storage = Storage(given, seed)

    def objective(trial):
        return storage.cost({knob["name"]: knob["values"][trial.suggest_int(knob["name"], 0, len(knob["values"]) - 1)] if knob["ordered"]
                             else trial.suggest_categorical(knob["name"], knob["values"]) for knob in storage.knobs})

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=False))
    study.enqueue_trial({knob["name"]: knob["values"].index(knob["default"]) if knob["ordered"] else knob["default"]
                         for knob in storage.knobs})
    study.optimize(objective, n_trials=int(given.budget))
    return storage.end()


def ours(rows):
    def search(given, seed):
        done = subprocess.run([PROGRAM, "search", str(given.noise), str(given.busy), str(seed), str(given.budget), rows],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["score"]
    return search


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=25)
    parser.add_argument("--noise", type=float, default=0.15, help="of a trial, lognormal")
    parser.add_argument("--busy", type=float, default=0, help="share of trials at 0.45 of the speed")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not PROGRAM.exists():
        print(f"no {PROGRAM}. Next: cmake -DFOREBAY_BENCH=ON build && cmake --build build --target tune_emulator")
        return 77
    searchers = {"forebay tune": ours("rules"), "forebay tune, no rows": ours("none"), "random": randomly}
    if optuna:
        searchers["TPE (Optuna)"] = by_optuna
    else:
        print("TPE (Optuna) is left out: it is not installed", file=sys.stderr)
    found = {}
    for name, searcher in searchers.items():
        scores = sorted(searcher(given, seed) for seed in range(1, given.seeds + 1))
        low, median, high = statistics.quantiles(scores, n=4, method="inclusive")
        found[name] = {"mean": statistics.mean(scores), "median": median, "quartiles": [low, high], "p10": scores[len(scores) // 10]}
    if given.json:
        print(json.dumps({"bench": "tune", "budget": given.budget, "noise": given.noise, "busy": given.busy, "seeds": given.seeds,
                          "searchers": found}))
        return 0
    print(f"{given.budget:g} runs, noise {given.noise:.0%}, busy {given.busy:.0%}, {given.seeds} seeds")
    for name, one in found.items():
        print(f"{name:24} mean {one['mean']:.3f}  median {one['median']:.3f}  quartiles "
              f"{one['quartiles'][0]:.3f} to {one['quartiles'][1]:.3f}  p10 {one['p10']:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
