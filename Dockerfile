# timestride with everything that it needs, the files of every package checked against envs/requirements.lock.
#
#     docker build -t timestride --build-arg COMMIT="$(git rev-parse HEAD)" .
#     docker run --rm -v "$PWD/study:/study" timestride --cores all                          # the default study, into ./study
#     docker run --rm --gpus all -v "$PWD/study:/study" timestride --cores all --configfile /timestride/presets/paper.yaml
#
# The study is made in /study, as from any other folder (docs/workflow.md, From anywhere). On Linux the lock holds the CUDA build of
# torch, so the image serves machines with GPUs and without, and takes some 8 GB.
# Its digest is that of 25 August 2026 in github.com/docker-library/repo-info, repos/python/remote/3.11-slim-bookworm.md (33a22f41).
FROM python:3.11-slim-bookworm@sha256:0bee7276f83efd4a1ee05bbbf4281d95ed28e079220a9457f25a93e3f1e3c31b

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 HOME=/tmp

WORKDIR /timestride
COPY envs/requirements.lock envs/requirements.lock
RUN python -m pip install --require-hashes --requirement envs/requirements.lock

COPY . .
ARG COMMIT=""
ENV TIMESTRIDE_COMMIT=$COMMIT
RUN python -m compileall -q scripts && mkdir /study && chmod 1777 /study

# Any user may run it (docker run --user "$(id -u):$(id -g)"), so that results belong to who asked for them.
USER 1000:1000
WORKDIR /study
ENTRYPOINT ["snakemake", "--snakefile", "/timestride/Snakefile", "--directory", "/study"]
CMD ["--cores", "all"]
