"""Load what all rules use: the plan of the configuration (scripts/plan/), and the arguments of each rule's program."""

import os
import sys
from pathlib import Path

# The folder of the project. A study can run in any working directory, and its results go there.
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).resolve().parent
# So jobs use the same interpreter and programs in Slurm, and in an environment that is not activated.
sys.path.insert(0, str(ROOT))
os.environ.update(
    {
        name: os.pathsep.join(filter(None, [first, os.environ.get(name)]))
        for name, first in {"PATH": str(Path(sys.executable).parent), "PYTHONPATH": str(ROOT)}.items()
    }
)

from scripts.plan.models import MADE_MODEL
from scripts.plan.workplan import built, cleaned, spans
from scripts.running.start import Start, one_hashed, one_of

START = Start(workflow, config, ROOT, is_module=Path(workflow.basedir).resolve() != ROOT)
WORK, PUBLISHED, JOBS, GPUS = START.work, START.published, START.jobs, START.gpus


wildcard_constraints:
    source=one_of(WORK.sources),
    model=one_of(WORK.models),
    study=one_of(WORK.studies),
    run=one_hashed(WORK.runs),
    experiment=one_of(WORK.plan.experiments),
