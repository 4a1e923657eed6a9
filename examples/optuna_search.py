"""Optuna draws settings, `coplay train --json` tries them: python examples/optuna_search.py (needs: pip install optuna)"""

import json
import os
import pathlib
import subprocess
import tempfile

import optuna

QUICK = os.environ.get("COPLAY_QUICK") == "1"
COPLAY = os.environ.get("COPLAY", "npx coplay").split()  # inside the repository: COPLAY="npm run -s coplay --"
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="optuna-"))

configuration = {
    "game": {"name": "matrix", "kind": "stag-hunt", "maxSteps": 8},
    "agents": {"kind": "ppo", "network": {"kind": "mlp", "hidden": [16]}},
    "envSteps": 4_096 if QUICK else 32_768,
    "log": [],
}
(FOLDER / "run.json").write_text(json.dumps(configuration))


def train(trial: optuna.Trial) -> float:
    """The mean return over agents after a training with the trial's settings."""
    settings = {
        "ppo.learningRate": trial.suggest_float("learningRate", 1e-4, 1e-1, log=True),
        "ppo.gamma": trial.suggest_float("gamma", 0.8, 0.999),
    }
    command = [*COPLAY, "train", str(FOLDER / "run.json"), "--directory", str(FOLDER / f"{trial.number:03}"), "--json"]
    changes = [word for name, value in settings.items() for word in ("--set", f"{name}={value!r}")]
    done = subprocess.run([*command, *changes], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)["mean"]


study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
for _ in range(2 if QUICK else 20):
    trial = study.ask()
    study.tell(trial, train(trial))
print(f"best of {len(study.trials)}: {study.best_value:.3f} with {study.best_params}; runs in {FOLDER}")
