"""Trains a convolutional network on handwritten digits on the device, and the same network on the CPU beside it.

    python examples/digits.py [--epochs 15] [--seeds 3] [--output quickstart/digits.png]

The data are scikit-learn's digits: 1,797 images of 8x8 pixels that 43 people wrote, shipped in that package. No operator
inside the training loop may fall back to the CPU: it would be an error.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import statistics
import time
from dataclasses import dataclass

import matplotlib
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

matplotlib.use("Agg")
from matplotlib import pyplot

BATCH = 64


@dataclass
class Data:
    train_images: Tensor  # [N, 1, 8, 8], float32, standardised
    train_labels: Tensor  # [N], int64
    test_images: Tensor
    test_labels: Tensor

    def to(self, device: torch.device) -> Data:
        return Data(*(tensor.to(device) for tensor in vars(self).values()))


@dataclass
class Run:
    """One training: a loss for each epoch, and how the network does on images that it did not see."""

    losses: list[float]
    accuracy: float
    seconds_per_epoch: float
    predictions: Tensor  # [test images], on the CPU


def load() -> Data:
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)
    labels = torch.tensor(digits.target)
    train, test = train_test_split(range(len(labels)), test_size=0.2, random_state=0, stratify=digits.target)
    mean, std = images[train].mean(), images[train].std()
    images = (images - mean) / std
    return Data(images[train], labels[train], images[test], labels[test])


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(32 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def train(device: torch.device, data: Data, seed: int, epochs: int) -> Run:
    torch.manual_seed(seed)
    model = network().to(device)  # built on the CPU, so that both devices start from the same weights
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    data = data.to(device)
    count = len(data.train_labels)
    shuffle = torch.Generator().manual_seed(seed)
    losses, seconds = [], []

    # disable=None: no bar where the output is not a terminal
    bar = tqdm(range(epochs), desc=f"{device.type:6} seed {seed}", unit="epoch", dynamic_ncols=True, disable=None)
    for _ in bar:
        start = time.perf_counter()
        model.train()
        order = torch.randperm(count, generator=shuffle).to(device)
        total = torch.zeros((), device=device)
        for batch in order.split(BATCH):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(data.train_images[batch]), data.train_labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(batch)
        losses.append(total.item() / count)
        seconds.append(time.perf_counter() - start)
        bar.set_postfix(loss=f"{losses[-1]:.4f}")

    if bar.disable:
        print(f"{device.type:6} seed {seed}: {epochs} epochs, loss {losses[0]:.4f} -> {losses[-1]:.4f}", flush=True)

    model.eval()
    with torch.no_grad():
        predictions = model(data.test_images).argmax(1)
        accuracy = (predictions == data.test_labels).float().mean().item()
    return Run(losses, accuracy, statistics.median(seconds), predictions.cpu())


def within_spread(ours: list[float], theirs: list[float]) -> bool:
    """Whether the two means differ by no more than the runs of one device differ among themselves."""
    spread = max(max(ours) - min(ours), max(theirs) - min(theirs))
    return abs(statistics.mean(ours) - statistics.mean(theirs)) <= spread


def table(device_runs: list[Run], cpu_runs: list[Run], counts: dict[str, int], peak_bytes: int) -> bool:
    """Prints the result; True if it is what the example promises."""

    def of(runs: list[Run], get) -> list[float]:
        return [get(run) for run in runs]

    def cell(values: list[float], form: str) -> str:
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        return f"{statistics.mean(values):{form}} ± {spread:{form}}"

    losses = [of(runs, lambda run: run.losses[-1]) for runs in (device_runs, cpu_runs)]
    accuracies = [of(runs, lambda run: run.accuracy * 100) for runs in (device_runs, cpu_runs)]
    seconds = [statistics.median(run.seconds_per_epoch for run in runs) for runs in (device_runs, cpu_runs)]
    one = len(device_runs) == 1  # which has no spread
    same = one or (within_spread(*losses) and within_spread(*accuracies))
    good = min(accuracies[0]) >= 97

    rows = [
        ("", "anvil", "CPU"),
        ("final loss", cell(losses[0], ".4f"), cell(losses[1], ".4f")),
        ("held-out accuracy, %", cell(accuracies[0], ".2f"), cell(accuracies[1], ".2f")),
        ("time per epoch, s", f"{seconds[0]:.2f}", f"{seconds[1]:.2f}"),
        ("peak device memory", f"{peak_bytes / 2**20:.1f} MiB", ""),
    ]
    print(f"\ndriver {torch.anvil.driver()}, device {torch.anvil.get_device_name()}")
    print(f"{len(device_runs)} seed{'' if one else 's'} each, mean ± standard deviation\n")
    for name, ours, theirs in rows:
        print(f"  {name:22} {ours:>18} {theirs:>18}")
    calls = ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
    print(f"\n  operator calls in the loop: {calls}")
    print(
        f"  difference of the means within the spread of the seeds: {'one seed has none' if one else 'yes' if same else 'NO'}"
    )
    print(f"  accuracy of each seed at least 97%: {'yes' if good else 'NO'}")
    return same and good


def picture(path: pathlib.Path, data: Data, device_runs: list[Run], cpu_runs: list[Run]) -> None:
    """Both loss curves (each seed, and the mean), and predictions, the wrong ones first."""
    blue, orange, ink = "#2a6fbb", "#d9822b", "#333333"
    pyplot.rcParams.update({"font.size": 10, "axes.edgecolor": "#999999", "text.color": ink, "axes.labelcolor": ink})
    figure = pyplot.figure(figsize=(11.5, 5), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
    left, right = figure.subfigures(1, 2, width_ratios=[1.1, 1])

    axes = left.subplots()
    for runs, color, label, style in ((cpu_runs, orange, "CPU", "--"), (device_runs, blue, "anvil", "-")):
        epochs = range(1, len(runs[0].losses) + 1)
        for run in runs:
            axes.plot(epochs, run.losses, color=color, alpha=0.3, linewidth=1, linestyle=style)
        mean = [statistics.mean(values) for values in zip(*(run.losses for run in runs))]
        axes.plot(epochs, mean, color=color, linewidth=2, linestyle=style, label=f"{label}, mean of {len(runs)} seeds")
    axes.set(yscale="log", xlabel="epoch", ylabel="training loss (cross-entropy)")
    axes.set_title("The same training on both devices", loc="left", fontsize=11)
    axes.grid(True, which="major", color="#e5e5e5")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)

    predictions, labels = device_runs[0].predictions, data.test_labels
    wrong = (predictions != labels).nonzero().flatten().tolist()
    shown = (wrong + [i for i in range(len(labels)) if i not in wrong])[:15]
    right.suptitle(f"Unseen images, as anvil reads them: {len(wrong)} of {len(labels)} wrong", x=0.04, ha="left", fontsize=11)
    for index, cell in zip(shown, right.subplots(3, 5).flat):
        cell.imshow(data.test_images[index, 0], cmap="gray_r", interpolation="nearest")
        correct = predictions[index] == labels[index]
        cell.set_title(
            f"{predictions[index]}" if correct else f"{predictions[index]}, is {labels[index]}",
            color=ink if correct else "#c0392b",
            fontsize=10,
            pad=3,
        )
        cell.set_axis_off()

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="privateuseone")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("quickstart/digits.png"))
    arguments = parser.parse_args()

    device, cpu = torch.device(arguments.device), torch.device("cpu")
    data = load()
    data.to(device)  # the first use of the device, outside of what is measured
    torch.anvil.reset_operator_stats()
    torch.anvil.reset_peak_memory_stats()

    device_runs, cpu_runs = [], []
    for seed in range(arguments.seeds):
        with torch.anvil.forbid_fallback():
            device_runs.append(train(device, data, seed, arguments.epochs))
        cpu_runs.append(train(cpu, data, seed, arguments.epochs))

    counts = {"kernel": 0, "library": 0, "fallback": 0}
    for stats in torch.anvil.operator_stats().values():
        for kind in counts:
            counts[kind] += getattr(stats, kind)
    good = table(device_runs, cpu_runs, counts, torch.anvil.max_memory_allocated())
    picture(arguments.output, data, device_runs, cpu_runs)
    with contextlib.suppress(ValueError):
        arguments.output = arguments.output.resolve().relative_to(pathlib.Path.cwd())
    print(f"  picture: {arguments.output}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
