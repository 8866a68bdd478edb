#!/usr/bin/env python3
"""Goal: `forebay movie` joins a run's pictures, also those of other programs, in the order of their steps.

Method: Pillow makes pictures of different sizes; they are packed. Pillow reads the animation back frame by frame.
ffmpeg is tested if it is installed. A script in its place shows its arguments and the handling of its failure.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    from PIL import Image
except ImportError:
    print("skipped: no Pillow in build/venv (scripts/bootstrap)")
    sys.exit(77)

from forebay_test import FOREBAY, run

NUMBERS = (2, 10, 9, 100)  # not in alphabetical order


def picture(number, size=(31, 20)):
    image = Image.new("RGB", size, (number, 0, 200))
    image.putpixel((number % 20, 3), (255, 255, 0))
    return image


class Movie(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="forebay-movie-")
        self.addCleanup(scratch.cleanup)
        self.work = pathlib.Path(scratch.name)
        (self.work / "plots").mkdir()

    def pack(self, numbers=NUMBERS, name="fields.map.u.step-{}.png", **options):
        for number in numbers:
            picture(number, **options).save(self.work / "plots" / name.format(number))
        run(FOREBAY, "pack", self.work / "plots", self.work / "run")

    def movie(self, to, *options, code=0, **more):
        return run(FOREBAY, "movie", self.work / "run", "--to", self.work / to, *options, code=code, **more)

    def test_frames_in_their_order(self):
        self.pack()
        told = json.loads(self.movie("map.png", "--json", "--fps", "20").stdout)
        self.assertEqual((told["frames"], told["padded"], told["width"], told["height"]), (4, 0, 31, 20))
        with Image.open(self.work / "map.png") as animation:
            self.assertEqual(animation.n_frames, 4)
            for frame, number in enumerate(sorted(NUMBERS)):
                animation.seek(frame)
                self.assertEqual(animation.convert("RGB").tobytes(), picture(number).tobytes())
                self.assertEqual(animation.info["duration"], 50)
        self.assertEqual(sorted(path.name for path in self.work.iterdir()), ["map.png", "plots", "run"])

    def test_own_movies_alone_are_replaced_unasked(self):
        self.pack()
        self.movie("map.png")
        self.movie("map.png")
        for name in ("photo.png", "map.gif"):
            picture(1).save(self.work / name)
            before = (self.work / name).read_bytes()
            self.assertIn("--replace", self.movie(name, code=2).stderr)
            self.assertEqual((self.work / name).read_bytes(), before)
        self.movie("photo.png", "--replace")
        with Image.open(self.work / "photo.png") as animation:
            self.assertEqual(animation.n_frames, 4)

    def test_sizes_that_differ_lie_on_white(self):
        self.pack()
        self.pack((5,), size=(40, 10))
        self.assertIn("5 of them are smaller", self.movie("map.png").stdout)
        with Image.open(self.work / "map.png") as animation:
            self.assertEqual(animation.size, (40, 20))
            animation.seek(1)
            frame = animation.convert("RGB")
            self.assertEqual(frame.getpixel((3, 15)), (255, 255, 255))
            self.assertEqual(frame.crop((0, 0, 40, 10)).tobytes(), picture(5, (40, 10)).tobytes())

    def test_one_series_at_a_time(self):
        self.pack()
        self.pack(name="fields.cut.u.step-{}.png")
        refused = self.movie("all.png", code=2).stderr
        self.assertIn("2 series of pictures", refused)
        self.assertIn("--only 'fields.cut.u.step-*.png' or 'fields.map.u.step-*.png'", refused)
        self.movie("map.png", "--only", "fields.map.*")
        missing = self.movie("none.png", "--only", "nix*", code=3).stderr
        self.assertIn("no picture of", missing)
        self.assertIn("a movie is", self.movie("map.avi", "--only", "fields.map.*", code=2).stderr)
        self.assertIn("--fps must be", self.movie("map.png", "--fps", "0", code=2).stderr)

    def test_what_is_no_picture(self):
        self.pack()
        (self.work / "plots/fields.map.u.step-7.png").write_text("no picture")
        run(FOREBAY, "pack", self.work / "plots", self.work / "run")
        (self.work / "map.png").write_text("before")
        self.assertIn("fields.map.u.step-7.png is not a readable picture", self.movie("map.png", "--replace", code=4).stderr)
        self.assertEqual((self.work / "map.png").read_text(), "before")
        self.assertEqual(sorted(path.name for path in self.work.iterdir()), ["map.png", "plots", "run"])

    def in_place_of_ffmpeg(self, script):
        """A PATH with only that program."""
        (self.work / "bin").mkdir()
        program = self.work / "bin/ffmpeg"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return {**os.environ, "PATH": f"{self.work}/bin:/usr/bin:/bin"}

    def test_what_ffmpeg_is_given(self):
        self.pack()
        environment = self.in_place_of_ffmpeg(
            'for last; do :; done; while [ "$1" != -i ]; do shift; done; ls "$(dirname "$2")" > "$last"')
        self.movie("map.webm", env=environment)
        self.assertEqual((self.work / "map.webm").read_text().split(), [f"{i:06d}.png" for i in range(4)])
        self.assertFalse([path for path in self.work.iterdir() if path.name.startswith(".") or "frames" in path.name])

    def test_a_gif_takes_its_colours_from_the_pictures(self):
        self.pack()
        environment = self.in_place_of_ffmpeg('for last; do :; done; echo "$*" > "$last"')
        self.movie("map.gif", env=environment)
        told = (self.work / "map.gif").read_text()
        self.assertIn("palettegen=reserve_transparent=0[p];[b][p]paletteuse -f gif", told)
        self.assertNotIn("yuv420p", told)

    def test_a_failure_of_ffmpeg_leaves_nothing(self):
        self.pack()
        environment = self.in_place_of_ffmpeg('for last; do :; done; echo half > "$last"; echo "no such codec"; exit 1')
        failed = self.movie("map.mp4", code=7, env=environment)
        self.assertIn("no such codec", failed.stderr)
        self.assertEqual(sorted(path.name for path in self.work.iterdir()), ["bin", "plots", "run"])

    def test_without_ffmpeg(self):
        self.pack()
        (self.work / "nothing").mkdir()
        for suffix in (".mp4", ".gif"):
            missing = self.movie("map" + suffix, code=6, env={**os.environ, "PATH": str(self.work / "nothing")}).stderr
            self.assertIn(f"ffmpeg, needed for {suffix} files, is not in PATH", missing)
            self.assertIn("--to FILE.png makes an animated PNG", missing)

    @unittest.skipUnless(shutil.which("ffmpeg"), "no ffmpeg")
    def test_ffmpeg(self):
        self.pack()
        for name in ("map.mp4", "map.webm", "map.gif"):
            self.movie(name)
            subprocess.run(["ffmpeg", "-loglevel", "error", "-i", self.work / name, "-f", "null", "-"], check=True)
        with Image.open(self.work / "map.gif") as animation:
            self.assertEqual(animation.n_frames, 4)
            animation.seek(3)
            self.assertEqual(animation.convert("RGB").tobytes(), picture(max(NUMBERS)).tobytes())


if __name__ == "__main__":
    unittest.main()
