"""numpy arrays for the library: element types, addresses, boxes. Arrays that cannot be saved are refused."""

import numpy as np

from ._forebay import RefusedError, error_text


def type_of(data, name):
    """The element type's name: float64 -> "f64", S16 -> "string[16]"."""
    dtype = data.dtype
    if not dtype.isnative:
        raise RefusedError(error_text(f"variable '{name}': its byte order is not this machine's."))
    if dtype.kind == "S" and dtype.itemsize:
        return f"string[{dtype.itemsize}]"
    if dtype.kind not in "iufcb" or dtype.itemsize > 16 or (dtype.kind == "f" and dtype.itemsize > 8):
        raise RefusedError(error_text(
            f"variable '{name}': dtype {dtype} cannot be saved; integers, floats of 2 to 8 bytes, complex numbers, "
            "bool and bytes ('S16') can."))
    return f"{'u' if dtype.kind == 'b' else dtype.kind}{8 * dtype.itemsize}"


def address_of(data):
    """The address of the first element."""
    return data.__array_interface__["data"][0]


def no_array(name, data):
    """The error text for data of another type."""
    kind = type(data).__name__
    if isinstance(data, (list, tuple)) and data:
        kind += f" of {type(data[0]).__name__}"
    made = "np.array(TEXT.encode(), 'S16')" if isinstance(data, str) else "np.asarray(VALUES)"
    return (f"variable '{name}' is of type {kind}, and a numpy array is needed: a save reads its memory, and a restart "
            f"fills it. Next: make one with {made}, keep it, and describe that array")


def must_be_array(data, name):
    """The array itself. Refuses masked arrays: a save in place would lose the mask."""
    if isinstance(data, np.ma.MaskedArray):
        raise RefusedError(error_text(
            f"variable '{name}' is a masked array, and a save would lose its mask", "",
            "describe data.filled(VALUE), which is a new array, or describe data.data and np.ma.getmaskarray(data) as two "
            "variables"))
    if not isinstance(data, np.ndarray):
        raise TypeError(no_array(name, data))
    return data


def must_be_value(data, name):
    """The array itself, for a replicated variable."""
    if not must_be_array(data, name).flags.c_contiguous:
        raise RefusedError(error_text(f"replicated variable '{name}' must be contiguous."))
    return data


def first_of(data, name):
    """The first or only array of a variable. Checks that all have one type."""
    parts = data if isinstance(data, (list, tuple)) and data else [data]
    if parts is data and not isinstance(data[0], np.ndarray):
        raise TypeError(no_array(name, data))
    kinds = [type_of(must_be_array(part, name), name) for part in parts]
    if len(set(kinds)) > 1:
        raise RefusedError(error_text(
            f"variable '{name}' has arrays of several types: {', '.join(sorted(set(kinds)))}."))
    return parts[0], kinds[0]


def halo_pairs(halo, dims):
    """1, (1, 0, 3) or ((1, 2), (0, 0), (3, 3)) as two lists: elements before and after the box along each dimension."""
    if np.isscalar(halo):
        halo = (halo,) * dims
    if len(halo) != dims:
        raise RefusedError(error_text(f"a halo for {len(halo)} dimensions, but there are {dims}."))
    both = [(width, width) if np.isscalar(width) else tuple(width) for width in halo]
    if any(width < 0 for pair in both for width in pair):
        raise RefusedError(error_text(f"the halo {halo} has a negative width."))
    return [before for before, _ in both], [after for _, after in both]


def boxes_of(name, data, start, halo):
    """Boxes from `data` and `start` of one box, or from lists of both."""
    if not isinstance(data, (list, tuple)):
        data, start = [data], [start]
    if len(data) != len(start):
        raise RefusedError(error_text(f"variable '{name}': {len(data)} arrays and {len(start)} positions."))
    boxes = []
    for part, begin in zip(data, start):
        must_be_array(part, name)
        begin = (0,) * part.ndim if begin is None else tuple(begin)
        before, after = halo_pairs(halo, part.ndim)
        size = [extent - lo - hi for extent, lo, hi in zip(part.shape, before, after)]
        if len(begin) != part.ndim or any(position < 0 for position in begin):
            raise RefusedError(error_text(f"variable '{name}': start {begin} for an array of {part.ndim} dimensions."))
        if min(size, default=1) <= 0:
            continue  # only halo: this rank owns nothing here
        inside = address_of(part) + sum(lo * stride for lo, stride in zip(before, part.strides))
        boxes.append((list(begin), size, inside, list(part.strides), before, after))
    return boxes
