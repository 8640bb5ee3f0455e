"""Which modules can change no number of a run: reporting, files and the way of starting. They are no part of the code that a run tells."""

REPORTING = frozenset({
    "scripts.train.progress", "scripts.train.work", "scripts.train.checkpoint", "scripts.train.tokens",
    "scripts.train.stop", "scripts.train.launch", "scripts.train.memory", "scripts.train.keep", "scripts.train.kept",
    "scripts.train.card", "scripts.train.cost", "scripts.common.devices", "scripts.common.program",
    "scripts.common.owner", "scripts.common.files", "scripts.common.tables", "scripts.common.locks",
    "scripts.common.reporting",
})
