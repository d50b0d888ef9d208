"""Other processes on the same data, which are killed and stopped in the middle of verbs, or whose clocks are off.

Each writes a line when a verb begins and one when it has returned, so that what it was told is known after its death.
"""
