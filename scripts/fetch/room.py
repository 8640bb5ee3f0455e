"""Whether the disks have room for a model's weights, said before they come."""

import shutil
from pathlib import Path

from scripts.common.program import UserError


def in_units(number: int) -> str:
    return f"{number / 1e9:,.1f} GB" if number >= 1e8 else f"{number / 1e6:,.1f} MB"


def check_weights_room(name: str, needed: dict[Path, int], partial: Path, kept: int) -> None:
    """Raise UserError where a disk has less free than a model's weights need on it.

    needed: {folder, which may not be there yet: bytes}; kept: the bytes that an earlier fetch left in `partial`, which need not
    come again.
    """
    disks: dict[int, tuple[Path, int]] = {}
    for folder, size in needed.items():
        place = next(place for place in (folder.resolve(), *folder.resolve().parents) if place.exists())
        first, so_far = disks.get(place.stat().st_dev, (place, 0))
        disks[place.stat().st_dev] = first, so_far + (max(0, size - kept) if folder == partial else size)
    for place, size in disks.values():
        free = shutil.disk_usage(place).free
        if size > free:
            raise UserError(f"{name}: its weights need {in_units(size)} on the disk of {place}, and {in_units(free)} are free (what the hub "
                            "gives is kept in its cache and copied here): free some, name with HF_HOME a cache or with --directory a "
                            "folder on another disk, or take a smaller model")
