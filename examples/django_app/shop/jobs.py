"""What the shop does later."""

from collections.abc import Iterator
from contextlib import contextmanager

import klokka
from django.conf import settings
from django.db import close_old_connections, transaction

from shop.models import Order

app = klokka.Klokka(settings.DATABASE_URL)


@contextmanager
def django_connections() -> Iterator[None]:
    """What Django does around a request: a job starts on a live connection, and leaves none behind in its thread."""
    close_old_connections()
    try:
        yield
    finally:
        close_old_connections()


@app.job("receipt.send")
def send_receipt(order_id: int) -> None:
    with django_connections(), transaction.atomic():
        order = Order.objects.select_for_update().get(pk=order_id)
        if not order.receipt_sent:  # a job may run again
            print(f"receipt of order {order.pk} to {order.email}")
            order.receipt_sent = True
            order.save()
