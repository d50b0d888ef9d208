"""The shop's tests, on a real database: `DATABASE_URL=postgresql://… pytest`."""

from collections.abc import AsyncIterator
from datetime import timedelta

import klokka
import pytest
from httpx import ASGITransport, AsyncClient
from sqlalchemy import text

from shop.database import engine
from shop.jobs import app
from shop.main import api, lifespan


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    async with lifespan(api), AsyncClient(transport=ASGITransport(api), base_url="http://shop") as client:
        yield client


def rows(table: str) -> int:
    with engine.begin() as connection:
        return connection.scalar(text(f"select count(*) from {table}")) or 0


async def test_an_order_gets_its_receipt(client: AsyncClient) -> None:
    response = await client.post("/orders", json={"email": "ada@example.org", "card": "4242"})
    assert response.status_code == 201
    placed = response.json()

    job = await app.wait(klokka.JobId(placed["job"]), timeout=timedelta(seconds=10))

    assert job.summary.status == "succeeded"
    shown = await client.get(f"/orders/{placed['id']}")
    assert shown.json() == {"id": placed["id"], "email": "ada@example.org", "receipt_sent": True}


async def test_a_declined_card_leaves_neither_order_nor_job(client: AsyncClient) -> None:
    orders, jobs = rows("orders"), rows("klokka.jobs")

    response = await client.post("/orders", json={"email": "bob@example.org", "card": "declined"})

    assert response.status_code == 402
    assert (rows("orders"), rows("klokka.jobs")) == (orders, jobs)
