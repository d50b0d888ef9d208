"""The shop's tests, on a database that Django makes for them: `DATABASE_URL=postgresql://… python manage.py test`."""

import asyncio
from datetime import timedelta
from urllib.parse import quote, urlsplit

import klokka
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase
from klokka.stores.postgres.store import PostgresStore

from shop.jobs import app
from shop.models import Order


async def run_job(id: int, store: PostgresStore) -> klokka.JobDetails:
    async with app.on_store(store), app.worker():
        return await app.wait(klokka.JobId(id), timeout=timedelta(seconds=10))


class OrderTests(TransactionTestCase):
    """Whole transactions, since a worker sees no job of one that has not been committed."""

    def setUp(self) -> None:
        name = quote(connection.settings_dict["NAME"])
        self.store = PostgresStore(urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}").geturl())
        asyncio.run(self.store.migrate())

    def rows(self) -> tuple[int, int]:
        with connection.cursor() as cursor:
            cursor.execute("select count(*) from klokka.jobs")
            return Order.objects.count(), cursor.fetchone()[0]

    def place(self, email: str, card: str) -> tuple[int, dict[str, int]]:
        response = self.client.post("/orders", {"email": email, "card": card}, content_type="application/json")
        return response.status_code, response.json()

    def test_an_order_gets_its_receipt(self) -> None:
        status, placed = self.place("ada@example.org", "4242")
        self.assertEqual(status, 201)

        job = asyncio.run(run_job(placed["job"], self.store))

        self.assertEqual(job.summary.status, "succeeded")
        self.assertTrue(Order.objects.get(pk=placed["id"]).receipt_sent)

    def test_a_declined_card_leaves_neither_order_nor_job(self) -> None:
        before = self.rows()

        status, _ = self.place("bob@example.org", "declined")

        self.assertEqual(status, 402)
        self.assertEqual(self.rows(), before)
