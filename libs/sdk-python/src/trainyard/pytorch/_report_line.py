"""Prints the progress of a training: one line for each report, from the first process."""

from __future__ import annotations

from typing import Any

# The limits keep a printed line short; all metrics are reported to the platform.
METRICS_PRINTED = 8
CHARACTERS_PRINTED = 40


def print_report(rank: int, group: str, times: dict[str, float], metrics: dict[str, Any]) -> None:
    """Prints ``batch 300, epoch 12.5: validation loss=0.25`` on rank 0; does nothing on other ranks."""
    if rank != 0:
        return
    when = f"batch {times['batches']}"
    if "epochs" in times:
        when += f", epoch {times['epochs']:.4g}"
    values = [f"{name}={_short(value)}" for name, value in list(metrics.items())[:METRICS_PRINTED]]
    if len(metrics) > METRICS_PRINTED:
        values.append(f"and {len(metrics) - METRICS_PRINTED} more")
    print(f"{when}: {group} {' '.join(values)}", flush=True)


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= CHARACTERS_PRINTED else text[:CHARACTERS_PRINTED] + "…"
