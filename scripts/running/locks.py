"""Locks that the kernel releases when their process ends. A file system may have no locks. Standard
library only.
"""

import errno
import fcntl
from typing import IO

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL)


def flock(opened: IO | int, how: int) -> bool:
    """Take an flock on an open file or its descriptor. Return False if the file system has no
    locks. Raises BlockingIOError if another process holds it and `how` asks not to wait.
    """
    try:
        fcntl.flock(opened, how)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return False
    return True
