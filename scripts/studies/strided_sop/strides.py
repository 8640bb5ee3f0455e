"""The values of the option `stride` of strided sentence order. Standard library only."""

import re

from scripts.running.program import UserError, shown

UP_TO = "up_to_"  # `up_to_4`: strides 0 to 4


def strides_of(stride: int | str) -> list[int]:
    """Return the strides of pairs: one stride, or 0 to n. Raises UserError for any other value."""
    if not isinstance(stride, int) and not re.fullmatch(UP_TO + "[1-9][0-9]?", str(stride)):
        raise UserError(
            f"the stride is {shown(stride)}, neither a whole number nor {UP_TO}<n>; build the "
            "dataset and run its models again"
        )
    return [stride] if isinstance(stride, int) else list(range(int(stride.removeprefix(UP_TO)) + 1))
