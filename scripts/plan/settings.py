"""The configuration: each key with its type, its bounds and one sentence. config.yaml has the
defaults. A preset may leave out each key.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from scripts.plan.typed import Model, Text, Unique, partly

Word = Annotated[
    str,
    Field(
        pattern="^[a-z][a-z0-9_]*$",
        max_length=100,
        description="lower-case letters, digits and _; the first is a letter",
    ),
]
Words = Annotated[Unique[Word], Field(min_length=1)]
Names = Annotated[Unique[str], Field(min_length=1, max_length=1000)]
Place = Annotated[str, Field(min_length=1, max_length=4000)]
Many = Field(min_length=1, max_length=100)  # values to try
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]
Seeds = Annotated[Unique[Seed], Field(min_length=1, max_length=1000)]
Epochs = Annotated[int, Field(ge=1, le=100_000)]
Rate = Annotated[float, Field(gt=0, le=1)]
Batch = Annotated[int, Field(ge=1, le=1_000_000)]

LEFT_OUT: Any = None  # the value of a key that an experiment leaves out


class Training(Model):
    """how a model learns"""

    epochs: Epochs | Annotated[Unique[Epochs], Many]
    """the largest number of epochs, or a list of numbers to try"""
    learning_rate: Rate | Annotated[Unique[Rate], Many]
    """the highest learning rate, reached after the warm-up, or a list of rates to try"""
    batch_size: Batch | Annotated[Unique[Batch], Many]
    """the number of examples in a step, over all devices, or a list of numbers to try"""
    weight_decay: Annotated[float, Field(ge=0, le=100)]
    """the weight decay of AdamW; biases and norms have none"""
    warmup_ratio: Annotated[float, Field(ge=0, le=1)]
    """the share of all steps in which the learning rate rises"""
    gradient_clip: Annotated[float, Field(gt=0, le=1_000_000)]
    """the largest norm of the gradient"""
    early_stopping_patience: Annotated[int, Field(ge=1, le=100_000)]
    """training stops after this many epochs without a lower held-out loss"""
    held_out_fraction: Annotated[float, Field(ge=0, le=0.5)]
    """the share of the training groups that is held out to choose the epoch; 0: the last epoch is
    reported"""
    max_length: Annotated[int, Field(ge=8, le=8192)]
    """the most tokens of an example; longer examples are cut"""
    dropout: Annotated[float, Field(ge=0, le=0.9)] | None
    """the dropout rate; null: the rate in the model's own configuration"""
    precision: Literal["auto", "fp32", "bf16"]
    """auto: bf16 on hardware made for it, fp32 elsewhere"""
    compile: bool
    """true: the model is compiled to graphs with static shapes; for GPUs"""
    adapter: Literal[None, "lora"]
    """lora: the weights stay frozen, and small matrices beside them learn; null: all weights
    learn"""
    rank: Annotated[int, Field(ge=1, le=4096)]
    """lora: the rank of its matrices"""
    alpha: Annotated[float, Field(gt=0, le=1_000_000)]
    """lora: the output of its matrices is multiplied by alpha / rank"""
    target: (
        Annotated[str, Field(pattern="^[A-Za-z0-9_.-]+$", max_length=300)]
        | Annotated[
            Unique[Annotated[str, Field(pattern="^[A-Za-z0-9_.]+$", max_length=300)]],
            Field(min_length=1, max_length=1000),
        ]
    )
    """lora: the linear layers that get matrices: all-linear, or a list of names such as
    [q_proj, v_proj]"""
    gradient_checkpointing: bool
    """true: saves memory by computing each layer twice"""
    objectives: (
        Annotated[
            dict[
                str,
                Annotated[
                    float, Field(ge=0, le=1_000_000, description="the weight of the objective")
                ],
            ],
            Field(min_length=1, max_length=2),
        ]
        | None
    )
    """the weights of two objectives: the method's own, and masked language modelling of the same
    texts, such as {sop: 1, mlm: 0.5}; null: the method's own objective alone"""
    chat_template: Literal["auto", "none"]
    """auto: a model with a chat template reads the question in that template; none: every model
    reads the plain question"""
    answer_tokens: Annotated[int, Field(ge=1, le=100_000)]
    """the most tokens of an answer"""
    shots: Annotated[int, Field(ge=0, le=100)]
    """the number of training examples before each prompt, drawn by the seed"""


@partly
class PartOfTraining(Training):
    """how a model learns"""


class Initial(Model, extra="allow"):
    """the experiment whose runs give the first weights, and factors that choose one of them"""

    experiment: str
    """the experiment to start from"""
    __pydantic_extra__: dict[str, str | Seed | bool | None]


class Data(TypedDict):
    """a source, and options of the study (scripts/studies/<study>/options.py)"""

    __pydantic_config__ = ConfigDict(extra="allow", use_attribute_docstrings=True)  # type: ignore[misc]
    source: str | list
    """a source of resources/sources.yaml, or a list of sources"""


class ExperimentEntry(Model):
    """a grid of runs; a list in data, models or seeds is a factor"""

    study: str
    """a folder of scripts/studies/"""
    data: Data
    """the source and the study's options; a list makes a factor of the grid"""
    models: Names | Literal["probed"]
    """a list of names of resources/models.yaml, [bag_of_words] for controls alone; or the word
    probed: the models that `model:` names"""
    title: Annotated[Text, Field(max_length=300)] = LEFT_OUT
    """a few words for figures and the page"""
    controls: bool | Annotated[Unique[str], Field(max_length=1000)] = True
    """the controls. true or left out: the controls that the study names; false: no controls; or a
    list of models of kind control"""
    methods: Annotated[Unique[str], Field(min_length=1)] | Literal["fitting"] = LEFT_OUT
    """a list of the study's methods (study.yaml); left out: the study's first method; or the word
    fitting: for each model the methods that fit its kind"""
    wordings: Annotated[Unique[str], Field(min_length=1)] = LEFT_OUT
    """the names of the wordings that ask the language models (prompts.yaml of the study); left out:
    all wordings of the method"""
    seeds: Seeds = LEFT_OUT
    """one run for each seed"""
    training: PartOfTraining = LEFT_OUT
    initial: str | Initial = LEFT_OUT
    """the experiment whose trained weights these runs start from. Each run starts from the run of
    the same model and seed. If several runs fit, name the factors that choose one: {experiment:
    my_sop, stride: 4}"""
    released: Annotated[Unique[str], Field(min_length=1)] = LEFT_OUT
    """sources of kind judgements: other people's released answers of models to these items,
    measured beside the runs (MC-TACO: temporal_llms)"""
    people: Annotated[Unique[Place], Field(min_length=1)] = LEFT_OUT
    """CSV files of people's answers to datasets of the experiments that run, or patterns of such
    files: [answers/*.csv] (docs/people.md)"""

    @property
    def settings(self) -> dict[str, Any]:
        """The training settings that the experiment names."""
        return self.training.model_dump(exclude_unset=True) if self.training else {}


class PromptEntry(TypedDict, total=False):
    """a method of the study that asks a language model"""

    __pydantic_config__ = ConfigDict(extra="allow", use_attribute_docstrings=True)  # type: ignore[misc]
    wordings: dict[str, Any]
    """wordings by name: a text for each label, or one for `candidate`"""


class Configuration(Model):
    """a configuration"""

    name: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]*$", max_length=100)]
    """the study's name, used in paths: a-z, digits, _ and -"""
    run: Annotated[Words, Field(max_length=1000)]
    """the experiments that run, by name"""
    model: Place | Annotated[Unique[Place], Field(min_length=1, max_length=1000)] | None
    """the model that experiments with `models: probed` measure: a name of resources/models.yaml,
    ORG/NAME[@revision] of the hub, or a folder; or a list of these"""
    study: Word | Annotated[Words, Field(max_length=100)] | None
    """the studies that run, of the experiments under `run`: one name, or a list; null: all"""
    benchmark: Place | Annotated[Unique[Place], Field(min_length=1, max_length=1000)] | None
    """the benchmarks of questions with options that are audited, in place of the experiments: a
    file, a source of kind choices, or a list of these"""
    limit: Annotated[int, Field(ge=1, le=10**9)] | None
    """the most items of each evaluation split (pairs; MC-TACO: questions; TimeDial: instances),
    drawn by hash; null: all items"""
    quick: bool
    """true: a first look in minutes. Models and controls learn from at most 256 examples of each
    training split in one epoch, and at most 100 items of each evaluation split are measured"""
    fine_tune: Literal["auto", True, False]
    """which models experiments with `methods: fitting` fine-tune. auto: encoders; true: every model
    that can learn; false: no model"""
    models: dict[str, Annotated[dict[str, Any], Field(description="a model")]]
    """your own models, written as in resources/models.yaml; a model here replaces one of the same
    name there"""
    sources: dict[str, Annotated[dict[str, Any], Field(description="a source")]]
    """your own sources, written as in resources/sources.yaml; a source here replaces one of the
    same name there"""
    prompts: dict[str, Annotated[dict[str, PromptEntry], Field(description="a study")]] = {}
    """your own prompts, by study and method. Your wordings join those of
    scripts/studies/<study>/prompts.yaml and replace those of the same name; every other key
    replaces the key there"""
    mirror: Annotated[str, Field(max_length=4000)] | None = None
    """a folder or URL laid out as <host>/<path>, tried before the sources' own URLs"""
    seeds: Seeds
    """one run for each seed: [1, 2, 3] are three"""
    device: Literal["auto", "cpu", "gpu"]
    """auto: a GPU where one is visible; gpu: refuse to train without one"""
    devices_per_run: Annotated[int, Field(ge=1, le=64)]
    """GPUs (or, without a GPU, CPU processes) that one training run uses"""
    runs_per_gpu: Annotated[int, Field(ge=1, le=64)]
    """training runs that share a GPU"""
    micro_batch_tokens: Annotated[int, Field(ge=256, le=100_000_000)] | None
    """the most tokens, padding included, of one forward pass; null: chosen from the free memory of
    a GPU, unbounded on the CPU"""
    deterministic: bool
    """false: lets a GPU use kernels whose results vary from run to run"""
    report_to: Literal["none", "tensorboard", "trackio", "wandb"]
    """the tool that shows the training while it runs; it changes no number"""
    bootstrap_resamples: Annotated[int, Field(ge=100, le=1_000_000)]
    """draws over the groups (videos, questions, …) behind every interval and difference"""
    spacy_pipeline: Annotated[str, Field(max_length=1000)] | None = None
    """the name of an installed spaCy pipeline; the dates and times that it finds are added to those
    of the rules"""
    keep: Literal["best", "last", "none"]
    """which trained weights are kept in results/train/kept/. best: those of the reported epoch;
    last: those of the last epoch; none: no weights"""
    merge_adapter: bool
    """true: after training with LoRA, the whole model is kept, with the adapter merged into it;
    false: only the adapter is kept"""
    recorded: bool
    """true: runs on record (docs/record/) are taken from there and not trained"""
    checkpoint_seconds: Annotated[float, Field(gt=0, le=1_000_000)]
    """the least time between two checkpoints of a training run"""
    training: Training
    experiments: dict[Word, ExperimentEntry]
    """the experiments that `run` may name"""


@partly
class PartOfExperiment(ExperimentEntry):
    """a grid of runs; a list in data, models or seeds is a factor"""


@partly
class Preset(Configuration):
    """a configuration that is laid over config.yaml"""

    training: PartOfTraining
    experiments: dict[Word, PartOfExperiment]  # type: ignore[assignment]  # dict is invariant
    """the experiments that `run` may name"""
