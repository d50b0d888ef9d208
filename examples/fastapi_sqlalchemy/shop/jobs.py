"""What the shop does later."""

from dataclasses import dataclass

import klokka
from sqlalchemy.orm import Session

from shop.database import URL, Order, engine

app = klokka.Klokka(URL)


@dataclass(frozen=True, slots=True)
class Receipt:
    order_id: int


RECEIPT = klokka.JobType("receipt.send", Receipt)


def send_receipt(receipt: Receipt) -> None:
    with Session(engine) as session, session.begin():
        order = session.get_one(Order, receipt.order_id, with_for_update=True)
        if not order.receipt_sent:  # a job may run again
            print(f"receipt of order {order.id} to {order.email}")
            order.receipt_sent = True


app.handle(RECEIPT, send_receipt)
