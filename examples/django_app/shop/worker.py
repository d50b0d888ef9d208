"""The app for Klokka's command line, which knows nothing of Django: `klokka worker shop.worker:app`."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
django.setup()

from shop.jobs import app

__all__ = ["app"]
