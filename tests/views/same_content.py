"""Whether two HDF5 files say the same: names in their order, attributes, types, and every bit of every dataset."""

import h5py


def _bits(values):
    return values.tobytes() if getattr(values, "dtype", object) != object else repr(values)


def _same_attributes(test, found, wanted, name):
    test.assertEqual(list(found.attrs), list(wanted.attrs), name)
    for attribute in wanted.attrs:
        if attribute not in ("DIMENSION_LIST", "REFERENCE_LIST"):  # addresses; readers follow them
            test.assertEqual(repr(found.attrs[attribute]), repr(wanted.attrs[attribute]), f"{name}: {attribute}")


def check(test, exported, view):
    """Of an export and the view of the same snapshots: how many datasets are equal."""
    count = 0
    with h5py.File(exported, "r") as found, h5py.File(view, "r") as wanted:
        names, those = [], []
        found.visit(names.append)
        wanted.visit(those.append)
        test.assertEqual(names, those)
        _same_attributes(test, found, wanted, "/")
        for name in names:
            _same_attributes(test, found[name], wanted[name], name)
            if isinstance(wanted[name], h5py.Dataset):
                test.assertFalse(found[name].is_virtual, name)
                test.assertEqual((found[name].shape, found[name].dtype), (wanted[name].shape, wanted[name].dtype), name)
                test.assertEqual(_bits(found[name][()]), _bits(wanted[name][()]), name)
                count += 1
    return count
