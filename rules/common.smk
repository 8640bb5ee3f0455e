"""Load what all rules use: the plan of the configuration (scripts/plan/), and what is known of this machine."""

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
# No scripts/ or yaml.py of the working directory takes the place of a module.
os.environ.update(PYTHONSAFEPATH="1")

from scripts.data.plain_json import as_json
from scripts.data.studies import ALL, folder_of
from scripts.plan import audits, evaluation, recording, rehearsal, sources, training
from scripts.plan.workplan import built, cleaned, spans
from scripts.running.start import Start, code, one_hashed, one_of, option

# Snakemake compares the parameters of a rule with those of its last job, and runs the job again if they differ. It does
# not compare {threads}, {log} and parameters that are marked as `uncompared`: the device, the mirror, URLs, licences,
# places. Another value of these reruns nothing. A device, threads and micro-batches may change a number by rounding;
# run.json names them.
from scripts.running.start import uncompared

START = Start(workflow, config, ROOT, is_module=Path(workflow.basedir).resolve() != ROOT)
WORK, PUBLISHED, GPUS = START.work, START.published, START.gpus


wildcard_constraints:
    source=one_of(WORK.sources),
    model=one_of(WORK.models),
    study=one_of(WORK.studies),
    job=one_hashed(job.split("/")[1] for job in WORK.training_jobs),
    experiment=one_of(WORK.plan.experiments),
