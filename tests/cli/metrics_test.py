#!/usr/bin/env python3
"""Goal: Prometheus reads the output of `forebay metrics` and the files in an agent's `metrics_directory`.

Method: promtool reads the form for node-exporter's textfile collector. The OpenMetrics parser of Prometheus' Python
client reads the other form and finds the numbers of the run. The runs come from make_watched_run, some with hostile
names.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from forebay_test import BUILD, FOREBAY

PROMTOOL = shutil.which("promtool")


def metrics(run, *options):
    return subprocess.run([FOREBAY, "metrics", run, *options], capture_output=True, text=True, check=True).stdout


class Metrics(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="forebay-metrics-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def told(self, kind, nodes):
        run = self.scratch / kind
        subprocess.run([BUILD / "tests" / "make_watched_run", run, kind, str(nodes)], check=True)
        return str(run)

    def test_promtool_accepts_it(self):
        if PROMTOOL is None:
            self.skipTest("promtool is not installed")
        for kind in ("ended", "live", "left", "hostile", "old", "statuses"):
            text = metrics(self.told(kind, 5))
            done = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), kind)

    def test_openmetrics(self):
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("prometheus_client is not installed")
        for kind in ("ended", "hostile"):
            families = {one.name: one for one in
                        text_string_to_metric_families(metrics(self.told(kind, 5), "--openmetrics"))}
            saved = families["forebay_stage_bytes"].samples
            self.assertEqual([one.value for one in saved], [10 * 5 * 512 * 2**20], kind)
            nodes = {one.labels["node"] for one in families["forebay_node_drain_backlog_bytes"].samples}
            self.assertEqual(len(nodes), 5)
            for family in families.values():
                for one in family.samples:
                    for label in one.labels.values():
                        self.assertTrue(label.isprintable(), label)
        targets = [one.labels["target"] for one in families["forebay_drain_bytes"].samples]
        self.assertEqual(targets, ["x\\x1b]0;owned\\x07\\xc2\\x9b31m\\xe2\\x80\\xae\\x0a\"}<b>\\"])


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if len(result.skipped) == result.testsRun else 0)
