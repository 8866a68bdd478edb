"""Standard output for scripts, beside a simulation or afterwards."""

import io


class PrintedText(io.TextIOBase):
    """Text for write() of a subclass. It has no descriptor, which would bypass write(). Its `buffer` takes bytes."""

    encoding, errors = "utf-8", "replace"

    @property
    def buffer(self):
        """As in other standard output."""
        return _Bytes(self)

    def writable(self):
        """Always true."""
        return True

    def close(self):
        """Does nothing: other code prints here too."""


class _Bytes(io.RawIOBase):
    def __init__(self, text):
        super().__init__()
        self._text = text

    def writable(self):
        return True

    def write(self, data):
        self._text.write(bytes(data).decode(errors="replace"))
        return len(data)
