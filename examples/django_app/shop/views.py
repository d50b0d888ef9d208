"""The web side."""

import json

from django.db import connection, transaction
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from shop.jobs import app, send_receipt
from shop.models import Order


class CardDeclined(Exception):
    pass


@csrf_exempt
@require_POST
def place_order(request: HttpRequest) -> JsonResponse:
    wanted = json.loads(request.body)
    try:
        with transaction.atomic():
            order = Order.objects.create(email=wanted["email"])
            job = app.enqueue_sync(send_receipt.new(order_id=order.pk), tx=connection)
            if wanted["card"] == "declined":
                raise CardDeclined  # neither the order nor the job will exist
    except CardDeclined:
        return JsonResponse({"detail": "the card was declined"}, status=402)
    return JsonResponse({"id": order.pk, "job": job.id}, status=201)
