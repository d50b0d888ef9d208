"""Tests of the SQLite store beyond the conformance kit."""
