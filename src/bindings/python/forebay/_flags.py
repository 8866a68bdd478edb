"""Flags: a script's statements about its snapshot, kept until they take effect."""

import contextlib
import math
import os

import numpy as np

from ._forebay_insitu import action_words, show_text

# For a snapshot and a script. The page between agent and application takes 16, from all analyses of a node.
FLAGS_MAX = 8
TEXT_BYTES_MAX = 512  # of UTF-8: with the name of the analysis before it, it fits on that page


class Flags:
    """Flags of one snapshot and one script, also from functions that fail later."""

    _open = None  # the flags of the running function

    def __init__(self):
        self._raised = {}
        self._is_cut = False
        self._process = os.getpid()

    @contextlib.contextmanager
    def open(self):
        """Collects the flags of a function of the script while it runs."""
        Flags._open = self
        try:
            yield
        finally:
            Flags._open = None

    def add(self, text, value, actions):
        """Adds a flag. Equal texts are one flag, with the first value and all actions. Beyond the limit, actions go
        to the last flag."""
        if text not in self._raised and len(self._raised) == FLAGS_MAX:
            self._is_cut, text = True, list(self._raised)[-1]
        first, before = self._raised.get(text, (value, set()))
        self._raised[text] = first, before | actions

    def raised(self):
        """The flags for ScriptRun.act(), the most urgent first, since the page may be short of room."""
        flags = [(text, value, sorted(actions)) for text, (value, actions) in self._raised.items()]
        return sorted(flags, key=lambda flag: ("stop" not in flag[2], "save" not in flag[2]))

    def problems(self, name):
        """Problems to report to people."""
        return [f"analysis '{name}': its script raises more than {FLAGS_MAX} flags of a snapshot: the last flag kept also "
                "gets the actions of the remaining flags"] if self._is_cut else []

    @staticmethod
    def opened():
        """The flags that a new flag is added to."""
        if Flags._open is None or Flags._open._process != os.getpid():
            raise RuntimeError("raise_flag was called outside a function of a script, or in another process, so it has "
                               "no snapshot")
        return Flags._open


def raise_flag(text, value=math.nan, action="mark"):
    """Reports that something is wrong with the snapshot of this function, or that the application should know it.

    - text: the reason, in one line.
    - value: a number that goes with it.
    - action: "mark", "save", "stop" or "tell", or a list of them, as for a condition. It takes effect after all
      functions have run, before the results are written, even if the function fails later.
    """
    flags = Flags.opened()
    if not isinstance(text, str):
        raise TypeError(f"raise_flag: text is a {type(text).__name__}, and must be a line of text")
    data = text.encode(errors="backslashreplace")
    if not 0 < len(data) <= TEXT_BYTES_MAX or show_text(data.decode()) != text:
        raise ValueError(f"raise_flag: text is {_shown(text)}: a line of 1 to {TEXT_BYTES_MAX} bytes is expected, without "
                         "control characters")
    number = np.asarray(value)
    if number.ndim or number.dtype.kind not in "biuf":
        raise TypeError(f"raise_flag: value is {_shown(value)}, and must be a number")
    actions = [action] if isinstance(action, str) else action
    if not isinstance(actions, (list, tuple)) or not actions or not all(word in action_words for word in actions):
        raise ValueError(f"raise_flag: action is {_shown(action)}, and must be {', '.join(action_words)}, or a list of them")
    flags.add(text, float(number), set(actions))


def _shown(value):
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "..."
