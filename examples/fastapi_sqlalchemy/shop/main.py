"""The web side: `uvicorn shop.main:api`. A worker runs beside it, in the same process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy.orm import Session

from shop.database import Order, Table, engine, open_session
from shop.jobs import RECEIPT, Receipt, app


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    Table.metadata.create_all(engine)
    async with app.worker():  # opens the store, which makes Klokka's tables if they are not there yet
        yield
    engine.dispose()


api = FastAPI(lifespan=lifespan)
DB = Annotated[Session, Depends(open_session)]


class NewOrder(BaseModel):
    email: str
    card: str


class PlacedOrder(BaseModel):
    id: int
    job: int


@api.post("/orders", status_code=201)
def place_order(order: NewOrder, db: DB) -> PlacedOrder:
    with db.begin():
        row = Order(email=order.email)
        db.add(row)
        db.flush()  # gives the row its id
        job = app.enqueue_sync(RECEIPT.new(Receipt(row.id)), tx=db)
        if order.card == "declined":
            raise HTTPException(402, "the card was declined")  # neither the order nor the job will exist
        return PlacedOrder(id=row.id, job=job.id)


@api.get("/orders/{id}")
def show_order(id: int, db: DB) -> dict[str, object]:
    order = db.get(Order, id)
    if order is None:
        raise HTTPException(404)
    return {"id": order.id, "email": order.email, "receipt_sent": order.receipt_sent}
