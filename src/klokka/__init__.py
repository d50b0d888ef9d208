"""Klokka: a durable job queue and scheduler that lives in the database you already run."""
