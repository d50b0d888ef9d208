"""Where the shop's views are."""

from django.urls import path

from shop.views import place_order

urlpatterns = [path("orders", place_order)]
