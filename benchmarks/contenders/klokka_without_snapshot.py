"""The same without anybody's snapshot."""

from benchmarks.contenders.later_drain import main

main(beside_a_snapshot=False)
