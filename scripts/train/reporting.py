"""Which code cannot change a number. Not a program."""

# Reporting, files and the way of starting: no part of what a run's digest tells of its code.
REPORTING = frozenset({
    "scripts.train.progress", "scripts.train.work", "scripts.train.reporting", "scripts.train.checkpoint", "scripts.train.tokens",
    "scripts.train.stop", "scripts.train.launch", "scripts.train.memory", "scripts.train.keep", "scripts.train.kept", "scripts.train.card",
    "scripts.train.cost", "scripts.common.devices", "scripts.common.program", "scripts.common.owner", "scripts.common.files",
    "scripts.common.tables", "scripts.common.locks"})
