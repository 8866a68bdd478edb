"""Standard output as scripts have it, whatever becomes of it: beside a simulation, or afterwards."""

import io


class PrintedText(io.TextIOBase):
    """Text that its write() takes. It has no descriptor, which would lead past it; bytes may go to its `buffer`."""

    encoding, errors = "utf-8", "replace"

    @property
    def buffer(self):
        """As that of other standard output."""
        return _Bytes(self)

    def writable(self):
        """It is."""
        return True

    def close(self):
        """Others print here, too."""


class _Bytes(io.RawIOBase):
    def __init__(self, text):
        super().__init__()
        self._text = text

    def writable(self):
        return True

    def write(self, data):
        self._text.write(bytes(data).decode(errors="replace"))
        return len(data)
