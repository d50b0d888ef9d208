"""Settings: one database, from `DATABASE_URL`, for the shop and its jobs."""

import os
from urllib.parse import parse_qs, unquote, urlsplit

DATABASE_URL = os.environ["DATABASE_URL"]  # postgresql://…
_url = urlsplit(DATABASE_URL)
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(_url.path.removeprefix("/")),
        "USER": unquote(_url.username or ""),
        "PASSWORD": unquote(_url.password or ""),
        "HOST": parse_qs(_url.query).get("host", [_url.hostname or ""])[0],
        "PORT": _url.port or "",
    }
}
SECRET_KEY = os.environ.get("SECRET_KEY", "only for this example")
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = ["shop"]
ROOT_URLCONF = "shop.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
