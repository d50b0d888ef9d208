"""Klokka beside a snapshot that somebody has held since the first job."""

from benchmarks.contenders.later_drain import main

main(beside_a_snapshot=True)
