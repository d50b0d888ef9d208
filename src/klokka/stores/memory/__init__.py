"""The contract in its plainest form: everything in this process, under one lock, gone with it."""
